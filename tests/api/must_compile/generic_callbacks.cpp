// A callback with `auto` parameters, in a namespace that has names of its own.
#include <tyer/async.hpp>
#include <tyer/tyer.hpp>

#include <functional>

using namespace std::chrono_literals;

namespace shop {

template <class Container>
bool not_empty(const Container& c) {
  return !c.empty();
}

void one(tyer::mutex& m, const tyer::shared_mutex& s) {
  const auto done = [](auto why, auto h) { static_cast<void>(why || h.token() == 0); };
  tyer::start_acquire(m, done);
  tyer::start_acquire(s.shared(), done);
  tyer::start_acquire(std::ref(m), done);
  tyer::start_try_acquire(m, done);
  tyer::start_try_acquire_for(m, 5s, done);
}

void many(tyer::multi_mutex& m) {
  const auto done = [](auto why, auto h) { static_cast<void>(why || h.token("a") == 0); };
  tyer::start_acquire(m, done);
  tyer::start_acquire(std::ref(m), done);
  tyer::start_try_acquire(m, done);
  tyer::start_try_acquire_for(m, 5s, done);
}

}  // namespace shop
