#include "recipes/waiting.hpp"

#include <tyer/detail/same_client.hpp>
#include <tyer/recipes/once_per.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using detail::time_limit;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view key = "value";
// An engine may report 0 ms left a moment before the lock expires.
constexpr milliseconds ask_again_after = 20ms;

single_flight_options flight_options(shared_value_options& o) {
  return {.lock = std::move(o.lock),
          .wait_at_most = o.wait_at_most,
          .refresh_before = o.refresh_before,
          .refresh_on = std::move(o.refresh_on),
          .refresh_failed = std::move(o.refresh_failed)};
}

[[noreturn]] void too_often(const once_per& at_most, milliseconds left) {
  throw error({errc::over_limit, core::quoted(at_most.name()) +
                                     ": already fetched in this period, but no value was stored; try again in " +
                                     std::to_string(left.count()) + " ms"});
}

// Takes the period, and waits for it if that is within the limit.
void take(const once_per& at_most, const client& asks, const hold& h, const time_limit& limit) {
  for (;;) {
    const auto start_by = at_most.try_take();
    if (start_by && lease_clock::now() < *start_by) return;
    const auto left = at_most.remaining(asks);
    if (left > limit.left()) too_often(at_most, left);
    if (!h.valid()) {
      throw error({errc::lost, core::quoted(at_most.name()) + ": lost the lock while waiting for the period"});
    }
    std::this_thread::sleep_for(std::max(left, ask_again_after));
  }
}

}  // namespace

// Shared with a refresh under way, which may be its last user.
struct shared_value::state {
  state(const client& owner, once_per period, std::shared_ptr<store> in, shared_value_options options)
      : asks(tyer::detail::same_client(owner)),
        at_most(std::move(period)),
        where(in),
        ends_before(options.ends_before),
        wait_at_most(options.wait_at_most),
        flight(owner, at_most.name(), std::move(in), flight_options(options)) {
    detail::require(ends_before.count() >= 0, "ends_before must not be below 0");
  }

  fresh fetched(const hold& h, const std::string* refused, const compute& fetch) const {
    // While there is a value, do not wait for the next one.
    const auto there = where->find(detail::lock_name(at_most.name(), key));
    const bool in_time = there && (refused == nullptr || there->value != *refused);
    take(at_most, *asks, h, time_limit{in_time ? 0ms : wait_at_most});
    const auto asked = lease_clock::now();  // whoever issues the value counts from then, at the earliest
    fresh made = fetch(h);
    const auto took = std::chrono::ceil<milliseconds>(lease_clock::now() - asked);
    made.lives_for = std::max(made.lives_for - took, 0ms) - ends_before;
    return made;
  }

  std::shared_ptr<const client> asks;
  once_per at_most;
  std::shared_ptr<store> where;
  milliseconds ends_before, wait_at_most;
  single_flight flight;
};

shared_value::shared_value(const client& owner, once_per at_most, std::shared_ptr<store> where,
                           shared_value_options options)
    : state_(std::make_shared<state>(owner, std::move(at_most), std::move(where), std::move(options))) {}

std::string shared_value::get(const compute& fetch) const {
  return state_->flight.get(key, [s = state_, fetch](const hold& h) { return s->fetched(h, nullptr, fetch); });
}

std::string shared_value::replace(std::string_view refused, const compute& fetch) const {
  const std::string not_this{refused};
  return state_->flight.get_but(&not_this, key, [&](const hold& h) { return state_->fetched(h, &not_this, fetch); });
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
