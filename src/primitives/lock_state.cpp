#include "primitives/lock_state.hpp"

#include "core/for_ever.hpp"
#include "core/name.hpp"
#include "core/token.hpp"
#include "lease/terms.hpp"

#include <algorithm>

namespace tyer::primitives {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::uint32_t permits_max = 65'536;  // what every engine can count

void require(bool fine, const char* words) {
  if (!fine) throw tyer::error({errc::invalid_option, words});
}

void require_able(bool able, const char* words) {
  if (!able) throw tyer::error({errc::unsupported, words});
}

void check(const lock_options& o, const engine::capabilities& can) {
  require(o.ttl >= 100ms && o.ttl <= 24h, "ttl must be from 100 ms to 24 h");
  require(o.ttl >= can.ttl_min, "ttl is shorter than this engine can keep");
  require(o.ttl <= can.ttl_max, "ttl is longer than this engine can keep");
  require(o.waiter_ttl == 0ms || (o.waiter_ttl >= 50ms && o.waiter_ttl <= 1h),
          "waiter_ttl must be 0, or from 50 ms to 1 h");
  require(o.local_handoffs <= core::handoffs_max, "local_handoffs must be at most 255");
  require(o.min_hold >= 0ms && o.min_hold <= 24h, "min_hold must be from 0 to 24 h");
  require(o.max_hold == 0ms || o.max_hold >= o.ttl / 2, "max_hold must be 0, or at least half the ttl");
  require(o.max_hold == 0ms || o.min_hold <= o.max_hold, "min_hold must not be longer than max_hold");
  require(o.lock_delay >= 0ms && o.lock_delay <= 1h, "lock_delay must be from 0 to 1 h");
  require(o.note.size() <= 256, "note must have at most 256 bytes");
  require(o.group.size() <= 64 && std::ranges::all_of(o.group, [](char c) { return c >= ' ' && c <= '~'; }),
          "group must have at most 64 printable ASCII characters");
  require_able(o.lock_delay == 0ms || can.lock_delay, "this engine has no lock_delay");
}

void check(const manner& m, const engine::capabilities& can) {
  require_able(m.how != engine::mode::shared || can.shared, "this engine has no shared locks");
  require_able(m.how != engine::mode::permit || can.permits, "this engine has no semaphores");
  require_able(!m.needs_token || can.token, "an election needs tokens, and this engine gives none");
  require(m.capacity <= permits_max, "a semaphore has at most 65536 permits");
  require(m.take >= 1 && m.take <= m.capacity, "permits must be from 1 to the number of permits of the semaphore");
}

}  // namespace

std::shared_ptr<const spec> make_spec(const client_runtime& h, std::string_view name, const lock_options& options,
                                      const std::string& owner, const manner& m) {
  if (auto f = core::check_name(name)) throw tyer::error(f);
  const auto can = h.can();
  check(options, can);
  check(m, can);
  auto s = std::make_shared<spec>();
  s->name = std::string{name};
  s->how = m.how;
  s->take = m.take;
  s->capacity = m.capacity;
  s->ttl = options.ttl;
  s->waiter_ttl = options.waiter_ttl != 0ms
                      ? options.waiter_ttl
                      : std::chrono::duration_cast<milliseconds>(lease::default_waiter_ttl(options.ttl));
  s->lock_delay = options.lock_delay;
  s->min_hold = options.min_hold;
  s->max_hold = core::within_for_ever(options.max_hold);
  s->handoffs = can.handoffs ? options.local_handoffs : 0;
  s->owner = owner;
  s->note = options.note;
  if (!h.forked()) s->counted_in = &h.board()->group_of(options.group);
  return s;
}

}  // namespace tyer::primitives
