// The seam below <tyer/async.hpp> and <tyer/asio.hpp>. Not for direct use.
#pragma once

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>
#include <tyer/multi_mutex.hpp>
#include <tyer/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

// Receives the one answer of a call, on the thread that drives the client, between two requests: it must only pass the answer
// on. Its owner calls one of these functions, once; that ends the object.
template <class... Answer>
class answer_handler {
 public:
  virtual void finish(failure, Answer...) = 0;
  virtual void destroy() noexcept = 0;  // without an answer, as when memory is short

 protected:
  ~answer_handler() = default;
};

// An answer_handler that was made by `new`.
template <class... Answer>
class answer_object : public answer_handler<Answer...> {
 public:
  virtual ~answer_object() = default;
  virtual void done(failure, Answer...) = 0;
  void finish(failure f, Answer... a) final {
    const std::unique_ptr<answer_object> mine{this};
    done(std::move(f), std::move(a)...);
  }
  void destroy() noexcept final { delete this; }
};

struct destroyer {
  destroyer() noexcept = default;
  template <class T>
  destroyer(const std::default_delete<T>&) noexcept {}
  template <class Handler>
  void operator()(Handler* h) const noexcept {
    h->destroy();
  }
};

template <class... Answer>
using answer_ptr = std::unique_ptr<answer_handler<Answer...>, destroyer>;

using acquire_handler = answer_object<hold>;
using release_handler = answer_object<release_outcome>;

// The value that accompanies a failure.
template <class Answer>
Answer no_answer() {
  return {};
}
template <>
inline release_outcome no_answer<release_outcome>() {
  return release_outcome::unknown;
}

// A call under way. Cancelling one that is over does nothing.
class TYER_EXPORT pending_call {
 public:
  virtual ~pending_call() = default;
  virtual void cancel() = 0;
};
using pending = std::shared_ptr<pending_call>;  // null: the call is over already

struct acquire_terms {
  bool waits = true;                                     // false: one attempt
  std::optional<std::chrono::nanoseconds> at_most = {};  // afterwards an empty hold, or errc::unavailable
  std::source_location where = std::source_location::current();
};

// The call keeps what it needs of its arguments, which need not outlive the function that starts it.
using home = std::shared_ptr<void>;  // of a client; see below
using multi_ptr = std::shared_ptr<const multi_state>;
using held_ptr = std::shared_ptr<hold_state>;
using held_parts = std::vector<held_ptr>;
TYER_EXPORT multi_ptr state_of(const multi_mutex&);
TYER_EXPORT held_ptr state_of(const hold&);
TYER_EXPORT held_parts state_of(const multi_hold&);

TYER_EXPORT pending start_acquire(const acquirable&, const acquire_terms&, answer_ptr<hold>);
TYER_EXPORT pending start_acquire(const multi_ptr&, const acquire_terms&, answer_ptr<multi_hold>);
// True: the hold is exclusive now.
TYER_EXPORT pending start_upgrade(const acquirable& to, const held_ptr&, const acquire_terms&, answer_ptr<bool>);
// Cancelling only stops waiting for its answer.
TYER_EXPORT pending start_confirm(const held_ptr&, answer_ptr<bool>);
TYER_EXPORT pending start_confirm(const held_parts&, answer_ptr<bool>);  // all of them
TYER_EXPORT pending start_wait_ready(const home&, std::chrono::nanoseconds at_most, answer_ptr<>);
// A release cannot be undone: cancelling only stops waiting for its answer.
TYER_EXPORT pending start_release(hold, answer_ptr<release_outcome>);
TYER_EXPORT pending start_release(multi_hold, answer_ptr<release_outcome>);

// A task that runs where completions run. Its queue link is part of the object, so queueing it allocates nothing and works
// when memory is exhausted.
class TYER_EXPORT completion {
 public:
  virtual ~completion() = default;
  // At most once: an executor may accept the task and still throw, and then another thread runs it too.
  void run_once() {
    if (!has_run_.exchange(true)) run();
  }
  // False: it is or was in a queue already.
  bool enters_a_line() noexcept { return !has_entered_.exchange(true); }
  bool is_on_its_way() const noexcept { return has_run_ || has_entered_; }
  // The user's executor destroyed it uncalled. An observer that still has something to report may try again later.
  virtual void left_uncalled() noexcept {}
  std::shared_ptr<completion> behind;  // the next in its queue

 private:
  virtual void run() = 0;
  std::atomic<bool> has_run_{false}, has_entered_{false};
};

[[noreturn]] TYER_EXPORT void throw_no_function();  // errc::invalid_option

// Where completions of handlers without an executor of their own run: the client's `completions`, else a thread of the
// client. Null if there is no client: then they run on one thread shared by all such calls.
TYER_EXPORT home home_of(const acquirable&);
TYER_EXPORT home home_of(const multi_mutex&);
TYER_EXPORT home home_of(const client&);
TYER_EXPORT home home_of(const hold&);
TYER_EXPORT home home_of(const multi_hold&);
TYER_EXPORT void complete_at(const home&, std::function<void()>);
// Throws std::bad_alloc only if there is no client (any more) and no thread can be started.
TYER_EXPORT void complete_at(const home&, std::shared_ptr<completion>);
TYER_EXPORT void complete_if_possible(const home&,
                                      std::shared_ptr<completion>) noexcept;  // dropped instead of throwing

}  // namespace detail
}  // namespace v1
}  // namespace tyer
