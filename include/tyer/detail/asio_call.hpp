// How a call of <tyer/asio.hpp> begins and ends. Not for direct use.
#pragma once

#include <tyer/detail/asio_executors.hpp>
#include <tyer/detail/asio_ledger.hpp>
#include <tyer/detail/asio_turnstile.hpp>
#include <tyer/detail/async.hpp>
#include <tyer/detail/to_wait.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// Cancels a call when the slot of its handler is emitted or the context ends. Either may happen before there is a call to
// cancel.
class calling_off {
 public:
  void begun(std::weak_ptr<pending_call> call) {
    std::unique_lock lock{mutex_};
    call_ = std::move(call);
    if (!wanted_) return;
    lock.unlock();
    call_off();
  }
  void call_off() {
    std::unique_lock lock{mutex_};
    wanted_ = true;
    const auto call = call_.lock();
    lock.unlock();
    if (call) call->cancel();
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<pending_call> call_;
  bool wanted_ = false;
};

// A handler that will complete on its own executor or on the client's. It lies in memory from its own allocator and belongs
// to the context of its executor; the rest of this object belongs to the client and may outlive both.
template <class Handler, class... Answer>
class asio_call final : public answer_handler<Answer...>,
                        public completion,
                        public call_ledger::entry,
                        public calling_off {
  using where = boost::asio::associated_executor_t<Handler, home_executor>;
  using work = at_work<where>;
  struct guest {
    Handler handler;
    work busy;
  };
  using allocator =
      typename std::allocator_traits<boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<guest>;
  using memory = std::allocator_traits<allocator>;
  using answers = std::tuple<failure, Answer...>;

 public:
  template <class H>
  asio_call(H&& handler, const home_executor& at_home) : home_(at_home.where()) {
    allocator from{boost::asio::get_associated_allocator(handler)};
    guest* const room = memory::allocate(from, 1);
    try {
      const auto there = boost::asio::get_associated_executor(handler, at_home);
      ledger_ = ledger_of(context_of(there));
      guest_ = ::new (static_cast<void*>(room)) guest{std::forward<H>(handler), work{there}};
    } catch (...) {
      memory::deallocate(from, room, 1);
      throw;
    }
  }
  ~asio_call() override {
    ledger_.end(*this, [this] { drop(); });
  }

  // For the side that answers. Null: the context is ending, and no call may begin.
  answer_ptr<Answer...> under_way() {
    if (!ledger_.enter(*this)) {
      drop();
      return nullptr;
    }
    mine_ = std::static_pointer_cast<asio_call>(shared_from_this());
    return answer_ptr<Answer...>{this};
  }

  void finish(failure f, Answer... answer) override {
    const auto mine = std::move(mine_);
    answer_.emplace(std::move(f), std::move(answer)...);
    pass_on(mine);
  }
  // The answering side ran out of memory. A call that throws has reported that itself.
  void destroy() noexcept override {
    const auto mine = std::move(mine_);
    if (state_.exchange(was_dropped) == has_begun) tell_no_memory(mine);
  }
  void begun(std::weak_ptr<pending_call> call) {
    calling_off::begun(std::move(call));
    if (state_.exchange(has_begun) == was_dropped)
      tell_no_memory(std::static_pointer_cast<asio_call>(shared_from_this()));
  }

 private:
  enum : unsigned { begins, has_begun, was_dropped };

  void tell_no_memory(const std::shared_ptr<asio_call>& mine) noexcept {
    answer_.emplace(std::make_error_code(std::errc::not_enough_memory), no_answer<Answer>()...);
    try {
      pass_on(mine);
    } catch (...) {  // its executor has no memory either
    }
  }

  void pass_on(const std::shared_ptr<asio_call>& mine) {
    if constexpr (can_be_posted_to<where>) {
      run_once();
    } else {
      complete_at(home_, std::shared_ptr<completion>{mine});
    }
  }

  // The work guard ends last: it keeps the executor's loop running.
  void run() override {
    answers all = *std::exchange(answer_, std::nullopt);
    ledger_.last(*this, [&] {
      guest* const g = std::exchange(guest_, nullptr);
      const work busy = std::move(g->busy);
      auto from = boost::asio::get_associated_allocator(g->handler);
      auto run = boost::asio::bind_allocator(from, [handler = std::move(g->handler), all = std::move(all)]() mutable {
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
        std::apply([&](auto&&... a) { std::move(handler)(std::move(a)...); }, std::move(all));
      });
      leave(g, allocator{from});
      if constexpr (can_be_posted_to<where>) {
        boost::asio::post(busy.get_executor(), std::move(run));
      } else {
        boost::asio::dispatch(busy.get_executor(), std::move(run));
      }
    });
  }
  void expel() noexcept override {
    call_off();
    drop();
  }
  void drop() noexcept {
    guest* const g = std::exchange(guest_, nullptr);
    if (g == nullptr) return;
    const Handler handler = std::move(g->handler);  // the allocator lives only as long as its handler
    leave(g, allocator{boost::asio::get_associated_allocator(handler)});
  }
  static void leave(guest* g, allocator to) noexcept {
    g->~guest();
    memory::deallocate(to, g, 1);
  }

  const home home_;
  ledger_ref ledger_;
  guest* guest_ = nullptr;
  std::optional<answers> answer_;
  std::atomic<unsigned> state_{begins};
  std::shared_ptr<asio_call> mine_;  // the client's, until it answers
};

// Begins a call once there is a handler: `start` takes the receiver of the answer and returns what cancels the call.
template <class... Answer>
class asio_initiation {
 public:
  using executor_type = home_executor;

  explicit asio_initiation(home h) noexcept : home_(std::move(h)) {}
  const executor_type& get_executor() const noexcept { return home_; }

  // For a call with a timer.
  void go_through(std::shared_ptr<turnstile_body> t) noexcept { turnstile_ = std::move(t); }
  const std::shared_ptr<turnstile_body>& turnstile_there() const noexcept { return turnstile_; }

  template <class Handler, class Start>
  void operator()(Handler&& handler, Start&& start) const {
    using executor = boost::asio::associated_executor_t<std::decay_t<Handler>, home_executor>;
    if constexpr (!std::is_same_v<executor, turnstile>) {
      if (turnstile_) {  // an executor was bound outside of the timer
        if constexpr (!std::is_same_v<executor, home_executor>) {
          turnstile_->settle(boost::asio::get_associated_executor(handler, home_));
        }
        return begin(boost::asio::bind_executor(turnstile{turnstile_}, std::forward<Handler>(handler)),
                     std::forward<Start>(start));
      }
    }
    begin(std::forward<Handler>(handler), std::forward<Start>(start));
  }

 private:
  template <class Handler, class Start>
  void begin(Handler&& handler, Start&& start) const {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    const auto call =
        std::make_shared<asio_call<std::decay_t<Handler>, Answer...>>(std::forward<Handler>(handler), home_);
    auto to = call->under_way();
    if (!to) return;
    // The slot is filled before the call starts: afterwards its handler may already be gone.
    if (slot.is_connected()) {
      slot.assign([off = std::weak_ptr{call}](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        if (const auto c = off.lock()) c->call_off();
      });
    }
    call->begun(std::forward<Start>(start)(std::move(to)));
  }

  home_executor home_;
  std::shared_ptr<turnstile_body> turnstile_;
};

template <class... Answer, class Token, class Start>
auto asio_initiate(home h, Token&& token, Start start) {
  return boost::asio::async_initiate<Token, void(failure, Answer...)>(asio_initiation<Answer...>{std::move(h)}, token,
                                                                      std::move(start));
}

// Terms with a limit in time. What is left until then is computed when the call begins: a deferred call may begin later
// than it was made.
template <class Clock, class Duration>
struct terms_until {
  std::chrono::time_point<Clock, Duration> limit;
  std::source_location where = std::source_location::current();
};
inline const acquire_terms& from_now(const acquire_terms& terms) { return terms; }
template <class Clock, class Duration>
acquire_terms from_now(const terms_until<Clock, Duration>& terms) {
  return {.at_most = to_wait(terms.limit), .where = terms.where};
}

template <class Terms, class Token>
auto acquire_with(const acquirable& m, const Terms& terms, Token&& token) {
  return asio_initiate<hold>(home_of(m), std::forward<Token>(token), [m, terms](answer_ptr<hold> to) {
    return start_acquire(m, detail::from_now(terms), std::move(to));
  });
}
template <class Terms, class Token>
auto upgrade_with(const shared_mutex& m, hold& h, const Terms& terms, Token&& token) {
  return asio_initiate<bool>(home_of(m), std::forward<Token>(token),
                             [m = acquirable{m}, h = state_of(h), terms](answer_ptr<bool> to) {
                               return start_upgrade(m, h, detail::from_now(terms), std::move(to));
                             });
}
template <class Terms, class Token>
auto acquire_with(const multi_mutex& m, const Terms& terms, Token&& token) {
  return asio_initiate<multi_hold>(home_of(m), std::forward<Token>(token),
                                   [m = state_of(m), terms](answer_ptr<multi_hold> to) {
                                     return start_acquire(m, detail::from_now(terms), std::move(to));
                                   });
}
template <class Hold, class Token>
auto confirm_with(const Hold& h, Token&& token) {
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
