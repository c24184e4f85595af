// The duties of every engine towards its caller, implemented once: every call gets exactly one reply, never inline, within the
// time-out, and before the engine is closed; calls of one name are started one after the other, if the engine uses in_turn().
//
//   a call is | until
//   ----------+-----------------------------------------------------------------------------------------------------------
//   under way | it is answered, it fails, or its deadline has passed: whichever comes first
//   over      | its reply is delivered: at once or, if a call was made in the same step, at the end of that step; if it was
//             | answered outside of a step, in the next one
//
// When a call is over, the next one of its name starts, and then the reply is delivered. So the next one, if it is answered as
// it starts, has its reply first.
//
// A step is one event in the loop: a message or a timer. Replies are delivered only in steps. If a call is made during a step,
// no reply is delivered until that call has returned: so no reply is ever inline.
//
// No socket, clock, thread or log: times come in. Only begin(), in_turn() and give_up() allocate. A call that was begun, and for
// which the engine ran out of memory, is answered as unknown at its deadline.
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

// Without the message if memory is exhausted.
failure no(why kind, errc code, std::string_view words) noexcept;
// What was asked for would have been executed after its not_after, so it was not asked for.
failure no_time_left() noexcept;

// One call of the runtime.
class call {
 public:
  virtual ~call() = default;

  time_point sent;  // when the call was made or, if it had to wait, when its turn came: its request left no earlier
  // The date of its answer, outcome::sent for the runtime: `sent`, or when the request left whose answer is the proof. An engine
  // sets it just before answer(), since in_turn() sets it too.
  time_point counts_from;
  time_point deadline;                       // the latest time of its answer, counted from when the call was made
  time_point not_after = time_point::max();  // nothing may be executed for it later
  bool gives_back = false;                   // a release: close() may wait for it
  bool hurries = false;                      // others wait for it: in turn it goes before those that do not hurry
  core::id of = {};                          // whose: none goes before an earlier one of the same id
  core::function<void()> when_over;  // run once it is over, before the next one of its name starts; must not throw

  bool over() const noexcept { return over_; }

 private:
  friend class calls;
  virtual void note(failure) noexcept = 0;
  virtual void deliver() = 0;
  virtual void drop() noexcept = 0;

  bool over_ = false, started_ = false;
  std::shared_ptr<call> self_;  // until its reply is delivered
  std::string name_;            // for calls in turn
  core::function<void()> start_;

 public:
  lease::link<call> place, turn;  // its links in the lists of `calls`
};

template <class T>
class call_of final : public call {
 public:
  explicit call_of(reply<T> back) noexcept : back_(std::move(back)) {}

  // What has been achieved, though the call goes on: the answer from now on, if what is left to do fails or takes too long.
  std::optional<T> achieved;

 private:
  friend class calls;
  void note(failure f) noexcept override {
    if (achieved) {
      said_.emplace(*std::move(achieved));
    } else {
      said_.emplace(std::move(f));
    }
  }
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

  // Registers a call. It is over already if the engine was closed. Throws and drops the reply if memory is exhausted.
  template <class T>
  call_ptr<T> begin(time_point now, reply<T> back);
  // The same for work of the engine's own, which nobody has called for: also after close(), and waited for like a release.
  template <class T>
  call_ptr<T> begin_own(time_point now, reply<T> back);

  // The first answer or failure counts; later ones are ignored. In a step they may start the next call of the name, and call the
  // runtime, which may make new calls, before they return: use no iterator or reference across them.
  template <class T>
  void answer(call_of<T>& c, result<T> r);
  void fail(call& c, failure f);

  // Starts the call when all earlier calls of this name are over: now, if there are none, else later, and then `sent` is the
  // time of that start. A call that timed out is over, though its request may still be on its way. A call stands in one line
  // only, and once: a keep() of several names stands in none. Those that hurry go first; but of three that start one at least is
  // the oldest, so everybody has a turn.
  void in_turn(const std::shared_ptr<call>& c, std::string_view name, core::function<void()> start);
  // True if nothing may be executed for the call any more: then this has failed it, as why::not_sent. So it is for calls of which
  // nothing can have been executed yet; once a request of the call may have changed something, set `not_after` to max().
  bool too_late(call& c, time_point now);

  // Runs one step.
  template <class F>
  void step(time_point now, F&& what);

  // When on_time() has something to do; time_point::min() if a reply waits to be delivered.
  time_point due() const noexcept;
  // In a step: fails calls whose deadline has passed.
  void on_time(time_point now);

  // Calls from now on are answered with errc::closed.
  void close() noexcept { closed_ = true; }
  // In a step: fails all calls that are under way, or all except releases.
  void give_up(bool also_what_gives_back);
  bool gives_back() const noexcept;  // a release is under way
  // True if every call got its reply.
  bool drained() const noexcept { return under_way_.empty() && ready_.empty(); }

  // Drops all calls without a reply.
  void drop_all() noexcept;

 private:
  using line = lease::list<call, &call::turn>;
  struct lane {
    line all;  // the one that has started in front
    bool starting = false;
    std::uint32_t overtook = 0;  // starts in a row that were not the oldest's
  };

  void admit(const std::shared_ptr<call>& c, time_point now);
  void enter(const std::shared_ptr<call>& c, time_point now);
  bool may_deliver() const noexcept { return in_step_ && !called_; }
  std::shared_ptr<call> settle(call& c, bool at_once);
  static void deliver(call& c);
  void hand_out();
  static call& take_next(lane& l) noexcept;
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
call_ptr<T> calls::begin_own(time_point now, reply<T> back) {
  auto c = std::make_shared<call_of<T>>(std::move(back));
  c->gives_back = true;
  enter(c, now);
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
