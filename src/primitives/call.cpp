#include "primitives/call.hpp"

#include "runtime/failures.hpp"
#include "runtime/own_thread.hpp"

#include <atomic>

namespace tyer::primitives {

namespace {

// Filled by the driver, waited for by the caller. Shared: the one who notifies may be the last to look at it.
template <class T>
struct slot : runtime::latch {
  explicit slot(const house& h) : call(h.time().begin_call()) {}

  T value;
  const std::shared_ptr<core::clock::call> call;
};

template <class T>
T sleep_until_filled(house& h, const std::shared_ptr<slot<T>>& answer, bool others_serve = false) {
  if (answer->call) answer->call->sleeps();
  others_serve ? answer->wait() : h.wait(*answer);
  return std::move(answer->value);
}

// Puts the answer down, from a callback of the desk. If it is destroyed before, whoever was to give it had no memory for that:
// then this is the answer.
template <class T>
class answering {
 public:
  answering(house& h, std::shared_ptr<slot<T>> s) noexcept : home_(&h), slot_(std::move(s)) {}
  answering(answering&&) noexcept = default;
  answering& operator=(answering&&) = delete;
  ~answering() {
    if (!slot_) return;
    slot_->value.error = runtime::no_memory();
    if (slot_->call) slot_->call->answered();
    home_->let_go(*slot_);
  }
  void operator()(T value) {
    slot_->value = std::move(value);
    if (slot_->call) slot_->call->answered();
    home_->open_soon(std::move(slot_));
  }

 private:
  house* home_;
  std::shared_ptr<slot<T>> slot_;
};

// Waits for the answer of something that can be called off. others_serve: nothing is left to do for it here.
template <class T, class Asked>
T wait_for(house& h, const std::shared_ptr<slot<T>>& answer, const Asked& asked, std::stop_token stop,
           bool others_serve = false) {
  // Behind the order: a stop that has been requested already finds it there.
  const auto cancel = [&h, &asked] { h.cancel(asked, errc::cancelled); };
  std::optional<std::stop_callback<decltype(cancel)>> on_stop;
  if (stop.stop_possible()) on_stop.emplace(std::move(stop), cancel);
  return sleep_until_filled(h, answer, others_serve);
}

// Waits for what the engine says.
using in_words = tyer::failure (*)(engine::failure) noexcept;
template <class T, class Call>
told<T> wait_for_engine(house& h, Call call, in_words of_failure = runtime::to_public) {
  if (auto f = unusable(h, true)) return {std::move(f), {}};
  auto answer = std::make_shared<slot<told<T>>>(h);
  call([put = answering<told<T>>{h, answer}, of_failure](engine::outcome<T>&& o) mutable {
    if (auto* f = std::get_if<engine::failure>(&o.result)) {
      put({f->code == errc::closed ? tyer::failure{errc::closed} : of_failure(std::move(*f)), {}});
    } else {
      put({{}, std::move(std::get<T>(o.result))});
    }
  });
  return sleep_until_filled(h, answer);
}

}  // namespace

tyer::failure unusable(const house& h, bool blocking) noexcept {
  if (h.forked()) return errc::forked;
  if (h.closed()) return errc::closed;
  if (blocking && runtime::on_own_thread) return errc::would_deadlock;
  return {};
}

lease::time_point limit_of(const house& h, const patience& p) {
  if (!p.at_most) return lease::time_point::max();
  const auto now = h.time().now();
  const auto room = lease::time_point::max() - now;
  return *p.at_most < room ? now + *p.at_most : lease::time_point::max();
}

std::shared_ptr<runtime::wish> make_wish(const house& h, std::shared_ptr<const spec> what, const patience& p,
                                         const std::source_location& where) {
  auto w = std::make_shared<runtime::wish>();
  w->what = std::move(what);
  w->waits = p.waits;
  w->since = h.time().now();
  w->limit = limit_of(h, p);
  w->where = where;
  return w;
}

acquired acquire_blocking(house& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where) {
  if (auto f = unusable(h, true)) return {std::move(f), nullptr};
  if (stop.stop_requested()) return {errc::cancelled, nullptr};
  auto w = make_wish(h, std::move(what), p, where);
  auto answer = std::make_shared<slot<acquired>>(h);
  w->done = [put = answering<acquired>{h, answer}](tyer::failure f, hold_ptr held) mutable {
    put({std::move(f), std::move(held)});
  };
  w->anywhere = true;  // the answer is only put down
  const bool joined = h.want(w, house::then::waits);
  return wait_for(h, answer, w, std::move(stop), joined);
}

released release_blocking(house& h, hold_ptr held) {
  if (h.forked()) return {errc::forked, release_outcome::unknown};
  if (h.closed()) return {{}, release_outcome::already_gone};
  if (runtime::on_own_thread) {
    h.give_back(std::move(held), {});
    return {errc::would_deadlock, release_outcome::unknown};
  }
  auto answer = std::make_shared<slot<released>>(h);
  h.give_back(
      std::move(held),
      [put = answering<released>{h, answer}](tyer::failure f, release_outcome o) mutable { put({std::move(f), o}); },
      house::then::waits);
  return sleep_until_filled(h, answer);
}

void give_back_quietly(house& h, hold_ptr held) noexcept {
  if (h.forked() || h.closed()) return;
  try {
    h.give_back(held, {});
  } catch (...) {
    held->forsake();
  }
}

std::shared_ptr<runtime::change> make_change(const house& h, hold_ptr held, std::shared_ptr<const spec> to,
                                             const patience& p) {
  auto c = std::make_shared<runtime::change>();
  c->of = std::move(held);
  c->to = std::move(to);
  c->waits = p.waits;
  c->limit = p.waits ? limit_of(h, p) : h.time().now() + h.bounds().request_timeout;
  return c;
}

converted convert_blocking(house& h, hold_ptr held, std::shared_ptr<const spec> to, const patience& p,
                           std::stop_token stop) {
  if (auto f = unusable(h, true)) return {std::move(f), false};
  if (stop.stop_requested()) return {errc::cancelled, false};
  auto c = make_change(h, std::move(held), std::move(to), p);
  auto answer = std::make_shared<slot<converted>>(h);
  c->done = [put = answering<converted>{h, answer}](tyer::failure f, bool changed) mutable {
    put({std::move(f), changed});
  };
  h.convert(c, house::then::waits);
  return wait_for(h, answer, c, std::move(stop));
}

confirmed confirm_blocking(house& h, hold_ptr held) {
  if (auto f = unusable(h, true)) return {std::move(f), false};
  auto answer = std::make_shared<slot<confirmed>>(h);
  h.confirm(
      std::move(held),
      [put = answering<confirmed>{h, answer}](tyer::failure f, bool stands) mutable { put({std::move(f), stands}); },
      house::then::waits);
  return sleep_until_filled(h, answer);
}

told<std::uint32_t> ask_blocking(house& h, std::string name, std::string reason) {
  return wait_for_engine<std::uint32_t>(
      h,
      [&](engine::reply<std::uint32_t> reply) {
        h.ask(std::move(name), std::move(reason), std::move(reply), house::then::waits);
      },
      runtime::to_public_of_deed);
}

told<engine::page> show_blocking(house& h, std::string name) {
  return wait_for_engine<engine::page>(
      h, [&](engine::reply<engine::page> reply) { h.show(std::move(name), std::move(reply), house::then::waits); });
}

told<engine::page> list_blocking(house& h, std::string prefix, std::string cursor, std::uint32_t limit) {
  return wait_for_engine<engine::page>(h, [&](engine::reply<engine::page> reply) {
    h.list(std::move(prefix), std::move(cursor), limit, std::move(reply), house::then::waits);
  });
}

told<core::fate> evict_blocking(house& h, engine::entry which, std::string reason) {
  return wait_for_engine<core::fate>(
      h,
      [&](engine::reply<core::fate> reply) {
        h.evict(std::move(which), std::move(reason), std::move(reply), house::then::waits);
      },
      runtime::to_public_of_deed);
}

told<std::vector<engine::finding>> diagnose_blocking(house& h) {
  return wait_for_engine<std::vector<engine::finding>>(
      h, [&](engine::reply<std::vector<engine::finding>> reply) { h.diagnose(std::move(reply), house::then::waits); });
}

}  // namespace tyer::primitives
