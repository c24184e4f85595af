#include "primitives/call.hpp"

#include "runtime/own_thread.hpp"

#include <atomic>
#include <new>
#include <variant>

namespace tyer::primitives {

// Filled by the driver, waited for by the caller. Shared, since the notifying thread may be the last to use it.
template <class T>
struct slot : runtime::latch {
  explicit slot(const client_runtime& h) : call(h.time().begin_call()) {}

  T value;
  const std::shared_ptr<core::clock::call> call;
};

// Stores the answer, from a callback of the coordinator. If it is destroyed before, memory ran out on the way: then the
// answer is not_enough_memory.
template <class T>
class answering {
 public:
  answering(client_runtime& h, std::shared_ptr<slot<T>> s) noexcept : home_(&h), slot_(std::move(s)) {}
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
  client_runtime* home_;
  std::shared_ptr<slot<T>> slot_;
};

namespace {

template <class T>
T sleep_until_filled(client_runtime& h, const std::shared_ptr<slot<T>>& answer, bool others_serve = false) {
  if (answer->call) answer->call->sleeps();
  others_serve ? answer->wait() : h.wait(*answer);
  return std::move(answer->value);
}

// Waits for the answer of a call that can be cancelled. others_serve: this thread need not drive for it.
template <class T, class Asked>
T wait_for(client_runtime& h, const std::shared_ptr<slot<T>>& answer, const Asked& asked, std::stop_token stop,
           bool others_serve = false) {
  // Made after the task was submitted, so that a stop that was requested before finds the task.
  const auto cancel = [&h, &asked] { h.cancel(asked, errc::cancelled); };
  std::optional<std::stop_callback<decltype(cancel)>> on_stop;
  if (stop.stop_possible()) on_stop.emplace(std::move(stop), cancel);
  return sleep_until_filled(h, answer, others_serve);
}

}  // namespace

tyer::failure unusable(const client_runtime& h, bool blocking) noexcept {
  if (h.forked()) return errc::forked;
  if (h.closed()) return errc::closed;
  if (blocking && runtime::on_own_thread) return runtime::on_a_thread_of_tyer();
  return {};
}

lease::time_point limit_of(const client_runtime& h, const patience& p) {
  if (!p.at_most) return lease::time_point::max();
  const auto now = h.time().now();
  const auto room = lease::time_point::max() - now;
  return *p.at_most < room ? now + *p.at_most : lease::time_point::max();
}

std::shared_ptr<runtime::acquisition> make_acquisition(const client_runtime& h, std::shared_ptr<const spec> what,
                                                       const patience& p, const std::source_location& where) {
  auto w = std::make_shared<runtime::acquisition>();
  w->what = std::move(what);
  w->waits = p.waits;
  w->since = h.time().now();
  w->limit = limit_of(h, p);
  w->where = where;
  return w;
}

acquired acquire_blocking(client_runtime& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where) {
  if (auto f = unusable(h, true)) return {std::move(f), nullptr};
  if (stop.stop_requested()) return {errc::cancelled, nullptr};
  const auto& notes = h.notes();
  if (notes && p.waits) {
    if (auto f = notes->asks(*what, where, h.time().now())) return {std::move(f), nullptr};
    if (auto f = unusable(h, true)) return {std::move(f), nullptr};  // on_reversed may have forked
  }
  auto w = make_acquisition(h, std::move(what), p, where);
  auto answer = std::make_shared<slot<acquired>>(h);
  w->done = [put = answering<acquired>{h, answer}](tyer::failure f, hold_ptr held) mutable {
    put({std::move(f), std::move(held)});
  };
  w->anywhere = true;  // `done` only stores the answer
  const bool joined = h.want(w, client_runtime::afterwards::waits);
  auto got = wait_for(h, answer, w, std::move(stop), joined);
  if (notes && got.hold) runtime::noting::took(notes, *got.hold, where);
  return got;
}

namespace {

// The answer, or the place where it will be stored.
template <class T>
using begun = std::variant<T, std::shared_ptr<slot<T>>>;

template <class T>
T answer_of(client_runtime& h, begun<T> b) {
  if (auto* there = std::get_if<T>(&b)) return std::move(*there);
  return sleep_until_filled(h, std::get<1>(b));
}

// Starts all calls before it waits for the first: each client drives its own engine meanwhile.
template <class T, class Begin>
std::vector<T> answers_of(std::span<const held_at> all, Begin begin) {
  std::vector<begun<T>> asked;
  std::vector<T> answers;
  asked.reserve(all.size());
  answers.reserve(all.size());
  for (const held_at& one : all) asked.push_back(begin(one));
  const auto slot_in = [](begun<T>& b) { return std::get_if<std::shared_ptr<slot<T>>>(&b); };
  for (auto& b : asked) {
    if (auto* s = slot_in(b); s != nullptr && (*s)->call) (*s)->call->sleeps();
  }
  for (auto& b : asked) {
    if (auto* s = slot_in(b)) (*s)->wait();
    answers.push_back(slot_in(b) != nullptr ? std::move((*slot_in(b))->value) : std::move(std::get<T>(b)));
  }
  return answers;
}

begun<released> begin_release(client_runtime& h, hold_ptr held, client_runtime::afterwards next) {
  held->noted.reset();
  if (h.forked()) return released{errc::forked, release_outcome::unknown};
  if (h.closed()) return released{{}, release_outcome::already_gone};
  if (runtime::on_own_thread) {
    h.give_back(std::move(held), {});
    return released{runtime::on_a_thread_of_tyer(), release_outcome::unknown};
  }
  auto answer = std::make_shared<slot<released>>(h);
  h.give_back(
      std::move(held),
      [put = answering<released>{h, answer}](tyer::failure f, release_outcome o) mutable { put({std::move(f), o}); },
      next);
  return answer;
}

begun<confirmed> begin_confirm(client_runtime& h, hold_ptr held, client_runtime::afterwards next) {
  if (auto f = unusable(h, true)) return confirmed{std::move(f), false};
  auto answer = std::make_shared<slot<confirmed>>(h);
  h.confirm(
      std::move(held),
      [put = answering<confirmed>{h, answer}](tyer::failure f, bool stands) mutable { put({std::move(f), stands}); },
      next);
  return answer;
}

}  // namespace

released release_blocking(client_runtime& h, hold_ptr held) {
  return answer_of(h, begin_release(h, std::move(held), client_runtime::afterwards::waits));
}

// When memory is exhausted, each hold is released instead of its next renewal.
std::vector<released> release_all_blocking(std::span<const held_at> all) {
  return answers_of<released>(all, [](const held_at& one) -> begun<released> {
    if (!one.home) return released{{}, release_outcome::already_gone};
    try {
      return begin_release(*one.home, one.held, client_runtime::afterwards::returns);
    } catch (const std::bad_alloc&) {
      one.held->abandon();
      return released{runtime::no_memory(), release_outcome::unknown};
    }
  });
}

void give_back_quietly(client_runtime& h, hold_ptr held) noexcept {
  held->noted.reset();
  if (h.forked() || h.closed()) return;
  try {
    h.give_back(held, {});
  } catch (...) {
    held->abandon();
  }
}

std::shared_ptr<runtime::change> make_change(const client_runtime& h, hold_ptr held, std::shared_ptr<const spec> to,
                                             const patience& p) {
  auto c = std::make_shared<runtime::change>();
  c->of = std::move(held);
  c->to = std::move(to);
  c->waits = p.waits;
  c->limit = p.waits ? limit_of(h, p) : h.time().now() + h.bounds().request_timeout;
  return c;
}

converted convert_blocking(client_runtime& h, hold_ptr held, std::shared_ptr<const spec> to, const patience& p,
                           std::stop_token stop) {
  if (auto f = unusable(h, true)) return {std::move(f), false};
  if (stop.stop_requested()) return {errc::cancelled, false};
  auto c = make_change(h, std::move(held), std::move(to), p);
  auto answer = std::make_shared<slot<converted>>(h);
  c->done = [put = answering<converted>{h, answer}](tyer::failure f, bool changed) mutable {
    put({std::move(f), changed});
  };
  h.convert(c, client_runtime::afterwards::waits);
  return wait_for(h, answer, c, std::move(stop));
}

confirmed confirm_blocking(client_runtime& h, hold_ptr held) {
  return answer_of(h, begin_confirm(h, std::move(held), client_runtime::afterwards::waits));
}

std::vector<confirmed> confirm_all_blocking(std::span<const held_at> all) {
  return answers_of<confirmed>(all, [](const held_at& one) -> begun<confirmed> {
    if (!one.home || one.home->closed()) return confirmed{};  // the client was closed, and has released it
    return begin_confirm(*one.home, one.held, client_runtime::afterwards::returns);
  });
}

template <class T>
told<T> ask_engine(client_runtime& h, runtime::query<T> what, in_words of_failure) {
  if (auto f = unusable(h, true)) return {std::move(f), {}};
  auto answer = std::make_shared<slot<told<T>>>(h);
  h.ask_engine<T>(
      std::move(what),
      [put = answering<told<T>>{h, answer}, of_failure](engine::outcome<T>&& o) mutable {
        if (auto* f = std::get_if<engine::failure>(&o.result)) {
          put({f->code == errc::closed ? tyer::failure{errc::closed} : of_failure(std::move(*f)), {}});
        } else {
          put({{}, std::move(std::get<T>(o.result))});
        }
      },
      client_runtime::afterwards::waits);
  return sleep_until_filled(h, answer);
}

template told<std::uint32_t> ask_engine(client_runtime&, runtime::query<std::uint32_t>, in_words);
template told<engine::page> ask_engine(client_runtime&, runtime::query<engine::page>, in_words);
template told<core::fate> ask_engine(client_runtime&, runtime::query<core::fate>, in_words);
template told<std::vector<engine::finding>> ask_engine(client_runtime&, runtime::query<std::vector<engine::finding>>,
                                                       in_words);

}  // namespace tyer::primitives
