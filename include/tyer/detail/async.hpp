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

namespace tyer {
inline namespace v1 {
namespace detail {

// Gets the one answer of a call, on a thread that drives the client, and must only pass it on: it runs between two requests.
// Whoever owns it calls one of these, once; it is gone then.
template <class... Answer>
class answer_handler {
 public:
  virtual void finish(failure, Answer...) = 0;
  virtual void destroy() noexcept = 0;  // without an answer, as when memory is short

 protected:
  ~answer_handler() = default;
};

// One that was made by `new`.
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

// What is told beside a failure.
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
  std::optional<std::chrono::nanoseconds> at_most = {};  // an empty hold then, or errc::unavailable
  std::source_location where = std::source_location::current();
};

// What is named here is kept by whoever starts the call, and may be gone before it starts.
using home = std::shared_ptr<void>;  // of a client; see below
using multi_ptr = std::shared_ptr<const multi_state>;
using held_ptr = std::shared_ptr<hold_state>;
TYER_EXPORT multi_ptr state_of(const multi_mutex&);
TYER_EXPORT held_ptr state_of(const hold&);

TYER_EXPORT pending start_acquire(const acquirable&, const acquire_terms&, answer_ptr<hold>);
TYER_EXPORT pending start_acquire(const multi_ptr&, const acquire_terms&, answer_ptr<multi_hold>);
// True: the hold is exclusive now.
TYER_EXPORT pending start_upgrade(const acquirable& to, const held_ptr&, const acquire_terms&, answer_ptr<bool>);
// To cancel it is to wait for its answer no longer.
TYER_EXPORT pending start_confirm(const held_ptr&, answer_ptr<bool>);
TYER_EXPORT pending start_wait_ready(const home&, std::chrono::nanoseconds at_most, answer_ptr<>);
// A release cannot be called off: to cancel it is to wait for its answer no longer.
TYER_EXPORT pending start_release(hold, answer_ptr<release_outcome>);
TYER_EXPORT pending start_release(multi_hold, answer_ptr<release_outcome>);

// Something that is to run where completions run. Its place in line is its own, so that none need be found when it is ready: it
// runs also when there is no memory left.
class TYER_EXPORT completion {
 public:
  virtual ~completion() = default;
  // Once: an executor may take it and throw all the same, and then it is run by somebody else too.
  void run_once() {
    if (!has_run_.exchange(true)) run();
  }
  // False: it stands in a line already, or has stood there.
  bool enters_a_line() noexcept { return !has_entered_.exchange(true); }
  bool is_on_its_way() const noexcept { return has_run_ || has_entered_; }
  // The user's executor destroyed it uncalled. Whoever has something left to tell may try again later.
  virtual void left_uncalled() noexcept {}
  std::shared_ptr<completion> behind;  // of the line that it stands in

 private:
  virtual void run() = 0;
  std::atomic<bool> has_run_{false}, has_entered_{false};
};

// Where completions of handlers without an executor of their own run: the client's `completions`, else a thread of the
// client. Null if there is no client: then on a thread for all of these.
[[noreturn]] TYER_EXPORT void throw_no_function();  // errc::invalid_option

TYER_EXPORT home home_of(const acquirable&);
TYER_EXPORT home home_of(const multi_mutex&);
TYER_EXPORT home home_of(const client&);
TYER_EXPORT home home_of(const hold&);
TYER_EXPORT home home_of(const multi_hold&);
TYER_EXPORT void complete_at(const home&, std::function<void()>);
// Throws std::bad_alloc only where there is no client any more, or was none, if no thread can be had for it.
TYER_EXPORT void complete_at(const home&, std::shared_ptr<completion>);
TYER_EXPORT void complete_if_possible(const home&,
                                      std::shared_ptr<completion>) noexcept;  // dropped instead of throwing

}  // namespace detail
}  // namespace v1
}  // namespace tyer
