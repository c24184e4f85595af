// What an engine owes to its caller, once for all engines: one reply to every call, exactly once, never inline, within
// the time-out, in order for one name, and all of them before the engine is closed.
//
//   a call is | until
//   ----------+-----------------------------------------------------------------------------------------------------------
//   under way | it is answered, it fails, or its deadline has passed: whichever comes first
//   over      | its reply was delivered: at once or, if a call was made in the same step, at the end of that step
//
// A step is one thing that happens in the loop: a message, a timer. Replies are delivered in steps only, and in a step in which
// a call was made nothing is answered until that call has returned: so no reply is ever inline.
//
// No socket, clock, thread or log: times come in. Only begin(), in_turn() and give_up() need memory. A call for which the engine
// found none is answered as unknown at its deadline.
//
// Thread safety: none.
#pragma once

#include "core/function.hpp"
#include "engine/engine.hpp"
#include "lease/list.hpp"

#include <tyer/error.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tyer::kit {

using engine::failure;
using engine::milliseconds;
using engine::reply;
using engine::time_point;
using engine::why;

template <class T>
using result = std::variant<T, failure>;

// Without words, if there is no memory for them.
failure no(why kind, errc code, std::string_view words) noexcept;

// One call of the runtime.
class call {
 public:
  virtual ~call() = default;

  time_point sent;         // when its request left: when it was made, or when its turn came
  time_point counts_from;  // what its answer is dated with: `sent`, or when the request left that proves it
  time_point deadline;     // it is answered then at the latest, counted from when it was made
  time_point not_after = time_point::max();  // nothing is executed for it later
  bool gives_back = false;                   // so it is worth waiting for when the engine is closed

  bool over() const noexcept { return over_; }

 private:
  friend class calls;
  virtual void note(failure) noexcept = 0;
  virtual void deliver() = 0;
  virtual void drop() noexcept = 0;

  bool over_ = false, started_ = false;
  std::shared_ptr<call> self_;  // until its reply is delivered
  std::string name_;            // of calls that have a turn
  core::function<void()> start_;

 public:
  lease::link<call> place, turn;  // where `calls` has it
};

template <class T>
class call_of final : public call {
 public:
  explicit call_of(reply<T> back) noexcept : back_(std::move(back)) {}

 private:
  friend class calls;
  void note(failure f) noexcept override { said_.emplace(std::move(f)); }
  void deliver() override {
    auto back = std::exchange(back_, nullptr);
    back({counts_from, *std::move(said_)});
  }
  void drop() noexcept override { back_ = nullptr; }

  reply<T> back_;
  std::optional<result<T>> said_;
};

template <class T>
using call_ptr = std::shared_ptr<call_of<T>>;

class calls {
 public:
  explicit calls(milliseconds request_timeout) : timeout_(request_timeout) {}
  ~calls() { drop_all(); }
  calls(const calls&) = delete;

  // A call was made. It is over already if the engine was closed. Without memory it throws, and drops the reply.
  template <class T>
  call_ptr<T> begin(time_point now, reply<T> back);

  // The first of these counts; whatever comes later comes too late.
  template <class T>
  void answer(call_of<T>& c, result<T> r);
  void fail(call& c, failure f);

  // Starts the call when all calls of this name that came before are over; now, if there are none. From then it counts as sent.
  void in_turn(const std::shared_ptr<call>& c, std::string_view name, core::function<void()> start);
  // True if nothing may be executed for it any more: then it has failed.
  bool too_late(call& c, time_point now);

  // Something happens in the loop.
  template <class F>
  void step(time_point now, F&& what);

  // When on_time() has something to do; time_point::min() if a reply waits to be delivered.
  time_point due() const noexcept;
  // In a step: gives up what is overdue.
  void on_time(time_point now);

  // Calls from now on are answered with errc::closed.
  void close() noexcept { closed_ = true; }
  // In a step: whatever is still under way fails, or all but what gives something back.
  void give_up(bool also_what_gives_back);
  bool gives_back() const noexcept;  // something that is under way
  // Every call had its reply.
  bool drained() const noexcept { return under_way_.empty() && ready_.empty(); }

  // Nobody is told anything any more.
  void drop_all() noexcept;

 private:
  using line = lease::list<call, &call::turn>;
  struct lane {
    line all;
    bool starting = false;
  };

  void admit(const std::shared_ptr<call>& c, time_point now);
  bool may_deliver() const noexcept { return in_step_ && !called_; }
  std::shared_ptr<call> settle(call& c, bool at_once);
  static void deliver(call& c);
  void hand_out();
  void leave_line(call& c);
  void go_on(std::map<std::string, lane, std::less<>>::iterator at);

  milliseconds timeout_;
  bool closed_ = false;
  bool in_step_ = false, called_ = false;
  time_point now_;
  lease::list<call, &call::place> under_way_;  // in the order they were made, so also in the order they fall due
  lease::list<call, &call::place> ready_;      // over, and not delivered
  std::map<std::string, lane, std::less<>> lanes_;
};

template <class T>
call_ptr<T> calls::begin(time_point now, reply<T> back) {
  auto c = std::make_shared<call_of<T>>(std::move(back));
  admit(c, now);
  return c;
}

template <class T>
void calls::answer(call_of<T>& c, result<T> r) {
  if (c.over()) return;
  const bool at_once = may_deliver();
  if (!at_once) c.said_.emplace(std::move(r));
  const auto alive = settle(c, at_once);
  if (!at_once) return;
  auto back = std::exchange(c.back_, nullptr);
  back({c.counts_from, std::move(r)});
}

template <class F>
void calls::step(time_point now, F&& what) {
  struct inside {
    bool& flag;
    ~inside() { flag = false; }
  } const in{in_step_};
  in_step_ = true;
  now_ = now;
  called_ = false;
  what();
  hand_out();
}

}  // namespace tyer::kit
