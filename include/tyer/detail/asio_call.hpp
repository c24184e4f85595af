// How a call of <tyer/asio.hpp> begins and ends. Not for direct use.
#pragma once

#include <tyer/detail/asio_executors.hpp>
#include <tyer/detail/async.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// Nothing of the caller's may run where an answer arrives: that is between two requests, on whichever thread drives the client,
// which may be one that is just making another call. So to post is a must, and who cannot be posted to is dispatched to from
// where completions run. A call with a timer must not end while that rings, and Asio leaves it to the executor that they come
// one after the other: to one without a loop both come from the timers' thread.
template <class Executor>
inline constexpr bool can_be_posted_to =
    !boost::asio::execution::is_executor_v<Executor> ||
    boost::asio::can_require_v<Executor, boost::asio::execution::blocking_t::never_t>;

// A handler on its way home: to its own executor, or to the client's. It lies in memory from its own allocator.
template <class Handler, class... Answer>
class asio_call final : public answer_handler<Answer...> {
  using where = boost::asio::associated_executor_t<Handler, home_executor>;
  using work = boost::asio::executor_work_guard<where>;  // keeps the executor's loop running meanwhile
  using allocator =
      typename std::allocator_traits<boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<asio_call>;
  using memory = std::allocator_traits<allocator>;

 public:
  template <class H>
  static answer_ptr<Answer...> make(H&& handler, const home_executor& at_home, bool has_timer) {
    allocator from{boost::asio::get_associated_allocator(handler)};
    asio_call* const room = memory::allocate(from, 1);
    try {
      return answer_ptr<Answer...>{::new (static_cast<void*>(room))
                                       asio_call{std::forward<H>(handler), at_home, has_timer}};
    } catch (...) {
      memory::deallocate(from, room, 1);
      throw;
    }
  }

  // What was moved from may still have its executor, so the work ends last: until then the executor's loop is there.
  void finish(failure f, Answer... answer) override {
    const work mine = std::move(work_);
    const home_executor at_home = home_;
    const bool had_timer = has_timer_;
    auto from = boost::asio::get_associated_allocator(handler_);
    auto run = boost::asio::bind_allocator(
        from, [handler = std::move(handler_),
               answer = std::tuple<failure, Answer...>{std::move(f), std::move(answer)...}]() mutable {
          if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
          std::apply([&](auto&&... a) { std::move(handler)(std::move(a)...); }, std::move(answer));
        });
    leave(allocator{from});
    if constexpr (!std::is_same_v<where, home_executor> && !has_a_loop<where>()) {
      if (had_timer) return boost::asio::post(timer_loop(), dispatching(mine, std::move(run)));
    }
    if constexpr (can_be_posted_to<where>) {
      boost::asio::post(mine.get_executor(), std::move(run));
    } else {
      at_home.execute(dispatching(mine, std::move(run)));
    }
  }
  void destroy() noexcept override {
    const Handler handler = std::move(handler_);  // its allocator lives no longer than it
    leave(allocator{boost::asio::get_associated_allocator(handler)});
  }

 private:
  template <class H>
  asio_call(H&& h, const home_executor& at_home, bool has_timer)
      : handler_(std::forward<H>(h)),
        work_(boost::asio::get_associated_executor(handler_, at_home)),
        home_(at_home),
        has_timer_(has_timer) {}
  ~asio_call() = default;

  template <class Run>
  static auto dispatching(work mine, Run run) {
    return [mine = std::move(mine), run = std::move(run)]() mutable {
      boost::asio::dispatch(mine.get_executor(), std::move(run));
    };
  }
  void leave(allocator to) noexcept {
    this->~asio_call();
    memory::deallocate(to, this, 1);
  }

  Handler handler_;
  work work_;
  home_executor home_;
  bool has_timer_;
};

// Begins a call once there is a handler: `start` takes that, and gives what cancels the call.
template <class... Answer>
class asio_initiation {
 public:
  using executor_type = call_executor;

  explicit asio_initiation(home h) noexcept : home_(std::move(h)) {}

  // A new one for each start: what is deferred may be started more than once.
  executor_type get_executor() const {
    if (!place_ || place_->is_known()) {
      place_ = std::make_shared<call_place>();
      call_place::hush(place_);
    }
    return call_executor{place_};
  }

  template <class Handler, class Start>
  void operator()(Handler&& handler, Start&& start) const {
    using call = asio_call<std::decay_t<Handler>, Answer...>;
    const beginning until_the_end{place_};
    if (place_) settle(handler);
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto to = call::make(std::forward<Handler>(handler), home_, place_ != nullptr);
    if (!slot.is_connected()) {
      std::forward<Start>(start)(std::move(to));
      return;
    }
    // The slot is filled before the call starts: afterwards its handler may already be gone.
    auto box = std::make_shared<std::weak_ptr<pending_call>>();
    slot.assign([box](boost::asio::cancellation_type type) {
      if (type == boost::asio::cancellation_type::none) return;
      if (const auto p = box->lock()) p->cancel();
    });
    *box = std::forward<Start>(start)(std::move(to));
  }

 private:
  struct beginning {
    std::shared_ptr<call_place> place;
    ~beginning() {
      if (place) place->begun();
    }
  };
  template <class Handler>
  void settle(const Handler& handler) const {
    const auto where = boost::asio::get_associated_executor(handler, home_);
    if constexpr (boost::asio::execution::is_executor_v<std::decay_t<decltype(where)>>) {
      place_->settle(where);
    } else {
      place_->settle(home_);
    }
  }

  home_executor home_;
  mutable std::shared_ptr<call_place> place_;  // only if somebody has asked for it
};

template <class... Answer, class Token, class Start>
auto asio_initiate(home h, Token&& token, Start start) {
  return boost::asio::async_initiate<Token, void(failure, Answer...)>(asio_initiation<Answer...>{std::move(h)}, token,
                                                                      std::move(start));
}

template <class Token>
auto acquire_with(const acquirable& m, const acquire_terms& terms, Token&& token) {
  return asio_initiate<hold>(home_of(m), std::forward<Token>(token),
                             [m, terms](answer_ptr<hold> to) { return start_acquire(m, terms, std::move(to)); });
}
template <class Token>
auto upgrade_with(const shared_mutex& m, hold& h, const acquire_terms& terms, Token&& token) {
  return asio_initiate<bool>(home_of(m), std::forward<Token>(token),
                             [m = acquirable{m}, h = state_of(h), terms](answer_ptr<bool> to) {
                               return start_upgrade(m, h, terms, std::move(to));
                             });
}
template <class Token>
auto acquire_with(const multi_mutex& m, const acquire_terms& terms, Token&& token) {
  return asio_initiate<multi_hold>(
      home_of(m), std::forward<Token>(token),
      [m = state_of(m), terms](answer_ptr<multi_hold> to) { return start_acquire(m, terms, std::move(to)); });
}
template <class Token>
auto confirm_with(const hold& h, Token&& token) {
  return asio_initiate<bool>(home_of(h), std::forward<Token>(token),
                             [h = state_of(h)](answer_ptr<bool> to) { return start_confirm(h, std::move(to)); });
}
template <class Token>
auto wait_ready_with(const client& c, std::chrono::nanoseconds at_most, Token&& token) {
  return asio_initiate<>(home_of(c), std::forward<Token>(token), [at = home_of(c), at_most](answer_ptr<> to) {
    return start_wait_ready(at, at_most, std::move(to));
  });
}
template <class Hold, class Token>
auto release_with(Hold h, Token&& token) {
  auto at = home_of(h);
  return asio_initiate<release_outcome>(std::move(at), std::forward<Token>(token),
                                        [h = std::move(h)](answer_ptr<release_outcome> to) mutable {
                                          return start_release(std::move(h), std::move(to));
                                        });
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
