// Calls of <tyer/asio.hpp> with a timer: cancel_after and cancel_at. Not for direct use.
//
// Asio makes the timer before the call, and relies on the executor to serialise the completions of the call and of the timer.
// Here each call has a turnstile in front of the executor, which serialises both on any executor, and lets nothing through
// before the call has begun (a timer that fires earlier would find nothing to cancel). The timer lives in the context of that
// executor if it has one, and ends with it; else in timer_loop().
#pragma once

#include <tyer/detail/asio_executors.hpp>
#include <tyer/detail/asio_ledger.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>

#include <concepts>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

class turnstile_body final : public call_ledger::entry {
 public:
  using task = boost::asio::any_completion_handler<void()>;

  turnstile_body(home_executor at_home, boost::asio::execution_context* timers)
      : home_(std::move(at_home)), timers_(timers) {}
  ~turnstile_body() override {
    ledger_.end(*this, [this] { way_ = nullptr; });
  }

  // Sets the executor. The last call counts: it comes from the outermost bound executor. Call before open().
  template <class Executor>
  void settle(const Executor& ex) {
    if constexpr (requires { ex.template target<boost::asio::io_context::executor_type>(); } &&
                  !tells_its_context<Executor>) {
      way_ = nullptr;
      with_known_executor(ex, [this](const auto& inside) { this->settle(inside); });
      if (way_) return;
    }
    context_ = context_of(ex);
    way_ = way_to(ex);
  }

  // The call has begun. Completions that had to wait go through, unless the context has ended meanwhile.
  void open() noexcept {
    try {
      if (!way_) settle(home_);
      ledger_ = ledger_of(context_);
      if (!ledger_.enter(*this)) return abandon();
    } catch (const std::bad_alloc&) {
      return abandon();
    }
    std::unique_lock lock{mutex_};
    busy_ = !tasks_.empty();
    if (!busy_) return;
    lock.unlock();
    let_in();
  }
  void execute(task t) {
    std::unique_lock lock{mutex_};
    if (closed_) return;  // `t` is an argument, so it is destroyed after the lock is released
    tasks_.push_back(std::move(t));
    if (std::exchange(busy_, true)) return;
    lock.unlock();
    let_in();
  }

  boost::asio::execution_context* context() const noexcept { return context_; }
  boost::asio::execution_context& timers() const { return timers_ != nullptr ? *timers_ : timer_loop(); }

 private:
  // Called on the executor. If it is destroyed uncalled, as by a context that ends, the waiting completions are destroyed
  // too.
  class one {
   public:
    explicit one(std::shared_ptr<turnstile_body> b) noexcept : body_(std::move(b)) {}
    one(one&&) noexcept = default;
    ~one() {
      if (body_) body_->abandon();
    }
    void operator()() {
      const auto mine = std::move(body_);
      mine->run_one();
    }

   private:
    std::shared_ptr<turnstile_body> body_;
  };

  template <class Executor>
  auto way_to(const Executor& ex) {
    // With a work guard of its own: the function may be the last work of that loop.
    return [busy = at_work<Executor>{ex}, at_home = home_](one next) {
      if constexpr (can_be_posted_to<Executor>) {
        boost::asio::post(busy.get_executor(), std::move(next));
      } else {
        at_home.execute(
            [busy, next = std::move(next)]() mutable { boost::asio::dispatch(busy.get_executor(), std::move(next)); });
      }
    };
  }
  void let_in() noexcept {
    bool let = false;
    try {
      const auto self = std::static_pointer_cast<turnstile_body>(shared_from_this());
      ledger_.once(*this, [&] {
        let = true;
        way_(one{self});
      });
    } catch (...) {  // out of memory: then there is nothing to wait for
      let = false;
    }
    if (!let) abandon();
  }
  void run_one() {
    struct next {
      turnstile_body& body;
      ~next() {
        std::unique_lock lock{body.mutex_};
        body.busy_ = !body.tasks_.empty() && !body.closed_;
        if (!body.busy_) return;
        lock.unlock();
        body.let_in();
      }
    };
    std::unique_lock lock{mutex_};
    if (tasks_.empty()) return;
    task mine = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    const next behind{*this};
    std::move(mine)();
  }
  void abandon() noexcept {
    std::deque<task> all;
    const std::lock_guard lock{mutex_};
    closed_ = true;
    all.swap(tasks_);
  }
  void expel() noexcept override {
    abandon();
    way_ = nullptr;
  }

  const home_executor home_;
  boost::asio::execution_context* const timers_;
  boost::asio::execution_context* context_ = nullptr;
  std::function<void(one)> way_;
  ledger_ref ledger_;

  std::mutex mutex_;
  std::deque<task> tasks_;
  bool busy_ = true;  // until it is open
  bool closed_ = false;
};

class turnstile {
 public:
  explicit turnstile(std::shared_ptr<turnstile_body> b) noexcept : body_(std::move(b)) {}

  static constexpr boost::asio::execution::blocking_t::never_t query(boost::asio::execution::blocking_t) noexcept {
    return {};
  }
  boost::asio::execution_context& query(boost::asio::execution::context_t) const { return body_->timers(); }
  boost::asio::execution_context* settled_context() const noexcept { return body_->context(); }
  template <class F>
  void execute(F&& f) const {
    body_->execute(std::forward<F>(f));
  }
  bool operator==(const turnstile&) const noexcept = default;

 private:
  std::shared_ptr<turnstile_body> body_;
};

// An initiation with the executor for its timer.
template <class Initiation>
struct with_timers_at : Initiation {
  using executor_type = boost::asio::any_io_executor;
  template <class I>
  with_timers_at(I&& i, turnstile t) : Initiation(std::forward<I>(i)), executor(std::move(t)) {}
  const executor_type& get_executor() const noexcept { return executor; }
  executor_type executor;
};

// The context of the outermost executor that is bound outside of the timer; such executors come as arguments.
inline boost::asio::execution_context* context_among() { return nullptr; }
template <class First, class... More>
boost::asio::execution_context* context_among(const First& first, const More&... more) {
  if (auto* const found = context_among(more...)) return found;
  if constexpr (boost::asio::execution::is_executor_v<First>) return context_of(first);
  return nullptr;
}

// Begins a call with a timer: `Timed` is Asio's, and makes both.
template <class Timed, class Initiation, class Handler, class... Args>
void begin_timed(Initiation&& initiation, Handler&& handler, Args&&... args) {
  struct opening {
    std::shared_ptr<turnstile_body> body;
    ~opening() {
      if (body) body->open();
    }
  };
  using home_type = std::decay_t<decltype(initiation.get_executor())>;
  const auto ex = boost::asio::get_associated_executor(handler, initiation.get_executor());
  using executor = std::decay_t<decltype(ex)>;
  constexpr bool has_own = !std::is_same_v<executor, home_type> && !std::is_same_v<executor, turnstile>;

  opening at_the_end;
  auto body = initiation.turnstile_there();
  if (!body) {
    auto* timers = has_own ? context_of(ex) : nullptr;
    if (timers == nullptr) timers = context_among(args...);
    body = at_the_end.body = std::make_shared<turnstile_body>(initiation.get_executor(), timers);
  }
  if constexpr (has_own) body->settle(ex);
  Timed timed{with_timers_at<std::decay_t<Initiation>>{std::forward<Initiation>(initiation), turnstile{body}}};
  timed.go_through(body);
  std::move(timed)(boost::asio::bind_executor(turnstile{body}, std::forward<Handler>(handler)),
                   std::forward<Args>(args)...);
}

// What begins a call with a timer.
template <class Initiation, class Timed>
struct timed_initiation : Initiation {
  template <class I>
  explicit timed_initiation(I&& i) : Initiation(std::forward<I>(i)) {}

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    begin_timed<Timed>(static_cast<Initiation&&>(*this), std::forward<Handler>(handler), std::forward<Args>(args)...);
  }
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    begin_timed<Timed>(static_cast<const Initiation&>(*this), std::forward<Handler>(handler),
                       std::forward<Args>(args)...);
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer

// Asio asks an initiation for its executor without passing the handler. Our initiations have an executor without a context,
// so the timer's executor is chosen earlier, by specialising the initiation types of cancel_after and cancel_at. If a later
// Asio has other types, these two do not compile.
template <class Initiation, class Clock, class WaitTraits, class... Signatures>
  requires std::same_as<typename Initiation::executor_type, tyer::detail::home_executor>
struct boost::asio::detail::initiate_cancel_after<Initiation, Clock, WaitTraits, Signatures...>
    : tyer::detail::timed_initiation<Initiation, initiate_cancel_after<tyer::detail::with_timers_at<Initiation>, Clock,
                                                                       WaitTraits, Signatures...>> {
  using initiate_cancel_after::timed_initiation::timed_initiation;
};

template <class Initiation, class Clock, class WaitTraits, class... Signatures>
  requires std::same_as<typename Initiation::executor_type, tyer::detail::home_executor>
struct boost::asio::detail::initiate_cancel_at<Initiation, Clock, WaitTraits, Signatures...>
    : tyer::detail::timed_initiation<
          Initiation, initiate_cancel_at<tyer::detail::with_timers_at<Initiation>, Clock, WaitTraits, Signatures...>> {
  using initiate_cancel_at::timed_initiation::timed_initiation;
};
