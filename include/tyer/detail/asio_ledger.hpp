// Tracks Tyer's calls under way in a Boost.Asio context, which may end before the client does. Not for direct use.
//
// A handler belongs to its context: when the context ends, Asio destroys its handlers without calling them, and so do we. A
// late answer then finds no handler, and posts nothing to a loop that is gone.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// One per context. It outlives the context, for answers that come late.
//
// Thread safety: everything may be called from any thread.
class call_ledger {
 public:
  // Always in a shared_ptr. Its destructor must begin with strike().
  class entry : public std::enable_shared_from_this<entry> {
   public:
    entry(const entry&) = delete;

   protected:
    entry() = default;
    virtual ~entry() = default;

   private:
    friend call_ledger;
    virtual void expel() noexcept = 0;  // the context ends: give back everything that belongs to it
    entry *before_ = nullptr, *behind_ = nullptr;
    bool listed_ = false;
  };

  // While it lives the context does not end. Empty: nothing of the context may be touched.
  class permit {
   public:
    explicit permit(call_ledger* l = nullptr) noexcept : ledger_(l) {}
    permit(permit&& other) noexcept : ledger_(std::exchange(other.ledger_, nullptr)) {}
    permit& operator=(permit&&) = delete;
    ~permit() {
      if (ledger_ != nullptr) ledger_->give_up();
    }
    explicit operator bool() const noexcept { return ledger_ != nullptr; }

   private:
    call_ledger* ledger_;
  };

  // False: the context is at its end.
  bool enter(entry& e) {
    const std::lock_guard lock{mutex_};
    if (shut_) return false;
    e.behind_ = first_;
    if (first_ != nullptr) first_->before_ = &e;
    first_ = &e;
    e.listed_ = true;
    return true;
  }
  // To use the context once.
  permit pass(entry& e) {
    const std::lock_guard lock{mutex_};
    return !shut_ && e.listed_ ? admit() : permit{};
  }
  // The same, for the last time: afterwards the entry is not expelled any more.
  permit leave(entry& e) {
    const std::lock_guard lock{mutex_};
    if (shut_ || !e.listed_) return permit{};
    unlink(e);
    return admit();
  }
  // Called by the entry's destructor, which may give back what belongs to the context until the permit ends. Empty if the
  // entry was expelled.
  permit strike(entry& e) {
    const std::lock_guard lock{mutex_};
    if (!e.listed_) return permit{};
    unlink(e);
    return admit();
  }

  void shut_down() noexcept {
    std::unique_lock lock{mutex_};
    shut_ = true;
    for (;;) {
      changed_.wait(lock, [this] { return inside_ == 0; });
      if (first_ == nullptr) return;
      if (auto e = first_->weak_from_this().lock()) {
        unlink(*e);
        lock.unlock();
        e->expel();
        e.reset();
        lock.lock();
      } else {  // its destructor is running and about to call strike()
        changed_.wait(lock, [this, leaving = first_] { return first_ != leaving; });
      }
    }
  }

 private:
  permit admit() noexcept {
    ++inside_;
    return permit{this};
  }
  void give_up() noexcept {
    const std::lock_guard lock{mutex_};
    --inside_;
    changed_.notify_all();
  }
  void unlink(entry& e) noexcept {
    (e.before_ != nullptr ? e.before_->behind_ : first_) = e.behind_;
    if (e.behind_ != nullptr) e.behind_->before_ = e.before_;
    e.listed_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  entry* first_ = nullptr;
  std::size_t inside_ = 0;
  bool shut_ = false;
};

// A reference to a ledger, or to none if the executor has no context; then nothing needs protection.
class ledger_ref {
 public:
  ledger_ref() = default;
  explicit ledger_ref(std::shared_ptr<call_ledger> l) noexcept : ledger_(std::move(l)) {}

  // Calls leave() and runs f while the permit lives.
  template <class F>
  void last(call_ledger::entry& e, F f) const {
    if (!ledger_) return f();
    if (const auto mine = ledger_->leave(e)) f();
  }
  template <class F>
  void once(call_ledger::entry& e, F f) const {
    if (!ledger_) return f();
    if (const auto mine = ledger_->pass(e)) f();
  }
  template <class F>
  void end(call_ledger::entry& e, F f) const {
    if (!ledger_) return f();
    if (const auto mine = ledger_->strike(e)) f();
  }
  bool enter(call_ledger::entry& e) const { return !ledger_ || ledger_->enter(e); }

 private:
  std::shared_ptr<call_ledger> ledger_;
};

class call_service final : public boost::asio::execution_context::service {
 public:
  using key_type = call_service;
  explicit call_service(boost::asio::execution_context& c) : service(c) {}
  ~call_service() override { ledger_->shut_down(); }
  const std::shared_ptr<call_ledger>& ledger() const noexcept { return ledger_; }

 private:
  void shutdown() noexcept override { ledger_->shut_down(); }

  const std::shared_ptr<call_ledger> ledger_ = std::make_shared<call_ledger>();
};

// ---- which context an executor belongs to

// Executor types that may be inside a type-erased one that does not reveal its context, such as any_completion_executor.
template <class F>
void with_known_executor(const auto& any, F f) {
  namespace asio = boost::asio;
  const auto is = [&]<class Executor>(std::type_identity<Executor>) {
    const auto* const inside = any.template target<Executor>();
    if (inside != nullptr) f(*inside);
    return inside != nullptr;
  };
  static_cast<void>(is(std::type_identity<asio::io_context::executor_type>{}) ||
                    is(std::type_identity<asio::thread_pool::executor_type>{}) ||
                    is(std::type_identity<asio::strand<asio::io_context::executor_type>>{}) ||
                    is(std::type_identity<asio::strand<asio::thread_pool::executor_type>>{}) ||
                    is(std::type_identity<asio::strand<asio::any_io_executor>>{}));
}

template <class Executor>
concept tells_its_context = boost::asio::execution::is_executor_v<Executor> && requires(const Executor& ex) {
  { boost::asio::query(ex, boost::asio::execution::context) } -> std::convertible_to<boost::asio::execution_context&>;
};

// Null if the executor does not reveal it: then the context must outlive the client, or at least the call.
template <class Executor>
boost::asio::execution_context* context_of(const Executor& ex) {
  boost::asio::execution_context* found = nullptr;
  if constexpr (requires { ex.settled_context(); }) {
    found = ex.settled_context();
  } else if constexpr (tells_its_context<Executor>) {
    found = &static_cast<boost::asio::execution_context&>(boost::asio::query(ex, boost::asio::execution::context));
  } else if constexpr (requires { ex.template target<boost::asio::io_context::executor_type>(); }) {
    with_known_executor(ex, [&](const auto& inside) { found = context_of(inside); });
  } else if constexpr (requires { static_cast<boost::asio::execution_context&>(ex.context()); }) {
    found = &static_cast<boost::asio::execution_context&>(ex.context());
  }
  return found;
}

inline ledger_ref ledger_of(boost::asio::execution_context* c) {
  if (c == nullptr) return {};
  return ledger_ref{boost::asio::use_service<call_service>(*c).ledger()};
}

// For run_on: an executor that a client may keep for longer than its context lives.
template <class Executor>
class completions_on final : public call_ledger::entry {
 public:
  explicit completions_on(Executor ex) : executor_(std::move(ex)), ledger_(ledger_of(context_of(*executor_))) {}
  ~completions_on() override {
    ledger_.end(*this, [this] { executor_.reset(); });
  }
  void enter() { static_cast<void>(ledger_.enter(*this)); }
  void post(std::function<void()> f) {
    ledger_.once(*this, [&] { boost::asio::post(*executor_, std::move(f)); });
  }

 private:
  void expel() noexcept override { executor_.reset(); }

  std::optional<Executor> executor_;
  const ledger_ref ledger_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
