// How busy each lock is, from looks at all of them one after the other.
//
// A look shows who has a lock now, not what happened since the look before: of several turns between two looks one is seen.
#pragma once

#include "text/entries.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace cli {

struct busy_lock {
  lock now;
  std::size_t waiters = 0;
  double turns = 0;                          // a second, over the last looks: times that somebody else had it
  std::chrono::milliseconds longest_wait{};  // of those who wait now
  bool late = false;  // a holder has not renewed: less than half of the lease that was seen before is left
};

struct activity_totals {
  std::size_t held = 0, waiters = 0;
  double turns = 0;         // a second
  std::size_t late = 0;     // holders
  std::size_t ran_out = 0;  // late ones that were gone at the next look, since the beginning
};

class activity {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds window{10};  // over which turns are counted

  // The busiest first.
  std::vector<busy_lock> look(std::vector<lock> locks, time_point now);
  activity_totals totals() const { return totals_; }

 private:
  struct holder {
    std::chrono::milliseconds most_left{};
    bool late = false;
  };
  struct record {
    std::map<std::string, holder> holders;  // by id
    std::deque<time_point> turns;
  };
  busy_lock judge(lock l, record& r, time_point now);
  void end_holders(record& r, const std::map<std::string, holder>& now);
  static void forget_turns(record& r, time_point now);
  double per_second(std::size_t turns, time_point now) const;

  std::map<std::string, record> records_;
  time_point began_{};
  bool first_ = true;
  activity_totals totals_;
};

}  // namespace cli
