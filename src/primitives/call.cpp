#include "primitives/call.hpp"

#include "runtime/own_thread.hpp"

#include <atomic>

namespace tyer::primitives {

namespace {

// Filled by the driver, waited for by the caller. Shared: the one who notifies may be the last to look at it.
template <class T>
struct slot : house::latch {
  T value;
};

}  // namespace

tyer::failure unusable(const house& h, bool blocking) noexcept {
  if (h.forked()) return errc::forked;
  if (h.closed()) return errc::closed;
  if (blocking && runtime::on_own_thread) return errc::would_deadlock;
  return {};
}

std::shared_ptr<runtime::wish> make_wish(const house& h, std::shared_ptr<const spec> what, const patience& p,
                                         const std::source_location& where) {
  auto w = std::make_shared<runtime::wish>();
  w->what = std::move(what);
  w->waits = p.waits;
  const auto now = h.time().now();
  w->since = now;
  if (p.at_most) {
    const auto room = lease::time_point::max() - now;
    w->limit = *p.at_most < room ? now + *p.at_most : lease::time_point::max();
  }
  w->where = where;
  return w;
}

acquired acquire_blocking(house& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where) {
  if (auto f = unusable(h, true)) return {std::move(f), nullptr};
  if (stop.stop_requested()) return {errc::cancelled, nullptr};
  auto w = make_wish(h, std::move(what), p, where);
  auto answer = std::make_shared<slot<acquired>>();
  w->done = [answer, &h](tyer::failure f, hold_ptr held) {
    answer->value = {std::move(f), std::move(held)};
    h.open_soon(answer);
  };
  h.want(w, house::then::waits);
  // Behind the wish: a stop that has been requested already finds it there.
  const auto cancel = [&h, &w] { h.cancel(w, errc::cancelled); };
  std::optional<std::stop_callback<decltype(cancel)>> on_stop;
  if (stop.stop_possible()) on_stop.emplace(std::move(stop), cancel);
  h.wait(*answer);
  return std::move(answer->value);
}

released release_blocking(house& h, hold_ptr held) {
  if (h.forked()) return {errc::forked, release_outcome::unknown};
  if (h.closed()) return {{}, release_outcome::already_gone};
  if (runtime::on_own_thread) {
    h.give_back(std::move(held), {});
    return {errc::would_deadlock, release_outcome::unknown};
  }
  auto answer = std::make_shared<slot<released>>();
  h.give_back(
      std::move(held),
      [answer, &h](tyer::failure f, release_outcome o) {
        answer->value = {std::move(f), o};
        h.open_soon(answer);
      },
      house::then::waits);
  h.wait(*answer);
  return std::move(answer->value);
}

}  // namespace tyer::primitives
