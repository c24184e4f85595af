// How a call of <tyer/async.hpp> begins and ends. Not for direct use.
#pragma once

#include <tyer/detail/async.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// An empty std::function or a null pointer is refused by the call itself, not when the answer comes.
template <class Done>
const Done& not_empty(const Done& done) {
  if constexpr (std::is_constructible_v<Done, std::nullptr_t> && requires { done == nullptr; }) {
    if (done == nullptr) throw_no_function();
  }
  return done;
}

// One call: its callback, its answer, and its stop_callback. All memory that the answer needs is allocated with it.
template <class Done, class... Answer>
class callback_call final : public completion, public std::enable_shared_from_this<callback_call<Done, Answer...>> {
 public:
  callback_call(home at, Done done) : at_((detail::not_empty(done), std::move(at))), done_(std::move(done)) {}

  void answer(failure f, Answer... a) {
    answer_.emplace(std::move(f), std::move(a)...);
    complete_at(at_, std::shared_ptr<completion>{this->shared_from_this()});
  }

  // The answering side ran out of memory. A call that throws has reported that itself.
  void dropped() noexcept {
    if (state_.exchange(was_dropped) == has_begun) answer_no_memory();
  }
  void begun() noexcept {
    if (state_.exchange(has_begun) == was_dropped) answer_no_memory();
  }

  // Runs after the call has started, since only a started call can be cancelled. The answer may already be there: then the
  // second of the two removes the stop_callback, and neither waits for the other.
  void heed(std::stop_token stop, std::weak_ptr<pending_call> call) {
    on_stop_.emplace(std::move(stop), cancelling{std::move(call)});
    if ((seen_.fetch_or(heeding) & answered) != 0) on_stop_.reset();
  }

 private:
  static constexpr unsigned heeding = 1, answered = 2;
  static constexpr unsigned begins = 0, has_begun = 1, was_dropped = 2;
  struct cancelling {
    std::weak_ptr<pending_call> call;
    void operator()() const {
      if (const auto c = call.lock()) c->cancel();
    }
  };

  void answer_no_memory() noexcept {
    answer_.emplace(std::make_error_code(std::errc::not_enough_memory), no_answer<Answer>()...);
    complete_if_possible(at_, std::shared_ptr<completion>{this->shared_from_this()});
  }

  void run() override {
    if ((seen_.fetch_or(answered) & heeding) != 0) on_stop_.reset();
    Done done = std::move(*done_);
    done_.reset();
    std::apply([&](auto&&... a) { std::move(done)(std::move(a)...); }, *std::exchange(answer_, std::nullopt));
  }

  const home at_;
  std::optional<Done> done_;
  std::optional<std::tuple<failure, Answer...>> answer_;
  std::atomic<unsigned> seen_{0}, state_{begins};
  std::optional<std::stop_callback<cancelling>> on_stop_;
};

template <class Done, class... Answer>
struct callback_handler final : answer_handler<Answer...> {
  explicit callback_handler(std::shared_ptr<callback_call<Done, Answer...>> c) : call(std::move(c)) {}
  void finish(failure f, Answer... a) override {
    const std::unique_ptr<callback_handler> mine{this};
    call->answer(std::move(f), std::move(a)...);
  }
  void destroy() noexcept override {
    const std::unique_ptr<callback_handler> mine{this};
    call->dropped();
  }
  std::shared_ptr<callback_call<Done, Answer...>> call;
};

// `start` takes the handler and returns what cancels the call.
template <class... Answer, class Done, class Start>
void start_then(home at, Done done, std::stop_token stop, Start start) {
  const auto call = std::make_shared<callback_call<Done, Answer...>>(std::move(at), std::move(done));
  const pending under_way = start(std::make_unique<callback_handler<Done, Answer...>>(call));
  call->begun();
  if (under_way && stop.stop_possible()) call->heed(std::move(stop), under_way);
}

// A call that is stopped before it starts sends nothing.
template <class... Answer, class Done, class Start>
void start_unless_stopped(home at, Done done, std::stop_token stop, Start start) {
  if (!stop.stop_requested())
    return detail::start_then<Answer...>(std::move(at), std::move(done), std::move(stop), start);
  std::make_shared<callback_call<Done, Answer...>>(std::move(at), std::move(done))
      ->answer(errc::cancelled, Answer{}...);
}

template <class Done>
void acquire_then(const acquirable& m, const acquire_terms& terms, Done done, std::stop_token stop) {
  detail::start_unless_stopped<hold>(home_of(m), std::move(done), std::move(stop),
                                     [&](answer_ptr<hold> to) { return start_acquire(m, terms, std::move(to)); });
}
template <class Done>
void acquire_then(const multi_mutex& m, const acquire_terms& terms, Done done, std::stop_token stop) {
  detail::start_unless_stopped<multi_hold>(
      home_of(m), std::move(done), std::move(stop),
      [&](answer_ptr<multi_hold> to) { return start_acquire(state_of(m), terms, std::move(to)); });
}
template <class Done>
void upgrade_then(const shared_mutex& m, const hold& h, const acquire_terms& terms, Done done, std::stop_token stop) {
  detail::start_unless_stopped<bool>(home_of(m), std::move(done), std::move(stop), [&](answer_ptr<bool> to) {
    return start_upgrade(m, state_of(h), terms, std::move(to));
  });
}
template <class Hold, class Done>
void confirm_then(const Hold& h, Done done, std::stop_token stop) {
  detail::start_unless_stopped<bool>(home_of(h), std::move(done), std::move(stop),
                                     [&](answer_ptr<bool> to) { return start_confirm(state_of(h), std::move(to)); });
}
template <class Done>
void wait_ready_then(const client& c, std::chrono::nanoseconds at_most, Done done, std::stop_token stop) {
  detail::start_unless_stopped<>(home_of(c), std::move(done), std::move(stop),
                                 [&](answer_ptr<> to) { return start_wait_ready(home_of(c), at_most, std::move(to)); });
}
// A call that is refused leaves the hold with its owner.
template <class Hold, class Done>
void release_then(Hold& h, Done done, std::stop_token stop) {
  auto at = home_of(h);
  detail::start_then<release_outcome>(
      std::move(at), std::move(done), std::move(stop),
      [&](answer_ptr<release_outcome> to) { return start_release(std::move(h), std::move(to)); });
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
