// Carries out one call at a server that only reads and writes: read the name, decide (resource.hpp), write if nobody has
// written since; else start again with the new state. A machine: orders out, answers in, time as an argument.
//
//   order        the engine                                                  and says
//   -------------+-----------------------------------------------------------+------------------------------------------------
//   attempt      tries blindly what mostly succeeds: take it if it is free   on_attempted: it was done, or what is there
//   read_head    reads the holds and the first places of the queue           on_view
//   read_all     reads the holds and the whole queue                         on_view
//   end_leases   ends must_end() of seen().name, each if it is still over    on_ended
//   write        writes the marks of seen().name, if the guard is unchanged  on_written: it was done, or not
//   join         makes the place of task::who, if it is absent               on_joined: what is there, its own place included
//   done         answers the call and tells told()                           nothing more
//   failed       answers with error(), tells told(): a lost write may stand  nothing more
//
// Any of them may fail: on_failure. Each order has a number, and an answer counts only for its own order: late or repeated
// answers are ignored (no new order).
//
//   lost answer of | what it means
//   ---------------+----------------------------------------------------------------------------------------------------------
//   a read         | nothing: not_sent, unless a place was joined before
//   end_leases     | the same: a lease that is over was ended, or was not
//   attempt, write | unknown, and in_doubt(): it may still be executed. The runtime asks again by the same id, or releases it
//   join           | the same; and once a place is there every failure is unknown
//
// Bounds: no attempt, join or write is ordered at or after task::not_after, except after a join: the place exists then, so
// "not executed" would be wrong, and the call goes on to say what the place is. No order is given at or after task::deadline. Each conflict means that another client has made progress.
//
// A join does not change the guard, so 1,000 waiters that come at once do not force a deciding client to start again. Therefore
// a client that frees the lock must notice waiters that came meanwhile: it compares view::joins, and if they differ
// look_again() asks for another round, for which no caller waits.
//
// Thread safety: none. No I/O, no clock.
#pragma once

#include "core/function.hpp"
#include "engines/kit/calls.hpp"
#include "engines/kit/resource.hpp"

#include <cstdint>
#include <optional>

namespace tyer::kit {

// What was read about a name.
struct view {
  resource name;
  store_time now;           // by the server's clock
  std::uint64_t guard = 0;  // every write changes it, whatever it writes; joins do not
  std::uint64_t joins = 0;  // counts joins. Read before the queue, so a place that is missing there is not counted
};

class settle {
 public:
  enum class verb : std::uint8_t { nothing, attempt, read_head, read_all, end_leases, write, join, done, failed };
  struct order {
    verb what = verb::nothing;
    std::uint32_t number = 0;
  };

  struct task {
    // Pure, and called again for each view: it stores the last answer where its owner finds it.
    core::function<void(resource&, store_time, notices&)> decide;
    id who = {};                 // the id whose place may have to be joined; null: none
    bool attempt_first = false;  // there is a blind first move
    time_point not_after = time_point::max();
    time_point deadline = time_point::max();
  };
  struct written {
    bool applied = false;
    std::uint64_t joins = 0;      // as of the write
    std::int64_t revision = 0;    // resource::wrote
    std::uint64_t parts = 0;      // resource::wrote
    std::optional<view> instead;  // if not applied: the current state, if the answer has it
  };

  explicit settle(task t) : task_(std::move(t)) {}

  order start(time_point now);
  order on_attempted(std::uint32_t number, bool done, std::optional<view> instead, time_point now);
  order on_view(std::uint32_t number, view, time_point now);
  order on_ended(std::uint32_t number, time_point now);
  order on_written(std::uint32_t number, written, time_point now);
  order on_joined(std::uint32_t number, view, time_point now);
  order on_failure(std::uint32_t number, failure, time_point now);
  // The caller no longer waits for it.
  order give_up(failure);

  const view& seen() const noexcept { return *view_; }  // as decided; none if the attempt succeeded
  view& seen() noexcept { return *view_; }              // an engine may set the lease of a new seat
  const notices& told() const noexcept { return told_; }
  const failure& error() const noexcept { return error_; }
  bool by_attempt() const noexcept { return by_attempt_; }
  bool look_again() const noexcept { return look_again_; }  // after done: reap() once more, for others
  bool in_doubt() const noexcept { return in_doubt_; }      // after failed: it may have left something, or may still

 private:
  bool takes(std::uint32_t number, verb of);
  bool changes() const noexcept;
  order give(verb v, time_point now);
  order decide(view, time_point now);
  order finish();
  order fail(failure);

  task task_;
  order current_;
  std::optional<view> view_;
  notices told_;
  failure error_;
  bool read_all_ = false, joined_ = false, by_attempt_ = false, look_again_ = false, in_doubt_ = false;
};

}  // namespace tyer::kit
