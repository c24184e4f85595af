// Compiled with -fno-exceptions: every call has a form that tells instead of throwing. The library itself throws nothing then
// that such a program would have to catch.
#include <tyer/async.hpp>
#include <tyer/debug.hpp>
#include <tyer/recipes.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <string>

using namespace std::chrono_literals;

bool one_write(tyer::client& c, tyer::mutex& m, tyer::fence_gate& gate) {
  tyer::failure why;
  if (!c.wait_ready(why, 1s)) return false;
  tyer::hold h = m.try_acquire_for(why, 200ms);
  if (why || !h || !h.confirm(why)) return false;
  const bool written = gate.enter(h.fence());
  const tyer::sql_fence row{"fence", "fence_by"};
  const std::string text = row.set(h.fence()) + row.where(tyer::sql_pass::sqlite(1, 2));
  return h.release(why) == tyer::release_outcome::released && written && !text.empty();
}

void later(const tyer::mutex& m) {
  tyer::start_acquire(m, [](const tyer::failure& why, tyer::hold h) {
    if (!why && h) tyer::start_confirm(h, [](const tyer::failure&, bool) {});
  });
}
