// Who of this client waits for which name, and when the first of them is to look out for those ahead of it, who may die.
//
// Only the first of a name looks out: if it is not its turn, it is not that of the others. When it has what it looks for, a watch,
// the name rests; when that one goes, the next is the first. So what this costs depends on who comes and goes, not on how many wait.
// Where each has its turn soon nobody looks; but where nobody stays for long, somebody does now and then.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace tyer::etcd {

inline constexpr std::chrono::milliseconds look_out_after{250};  // most have their turn before, and need not look out

class lookouts {
 public:
  using id = engine::id;
  using time_point = engine::time_point;

  // It waits; as the first of this client it looks out at that time.
  void join(const std::string& name, std::int64_t created, const id& who, time_point at);
  // It waits no more; if it was the first, the next looks out at that time.
  void leave(const std::string& name, std::int64_t created, const id& who, time_point next_at);
  // The first of the name looks out at that time, or earlier if it was to.
  void arm(const std::string& name, time_point at);
  void arm_all(time_point at);

  time_point next() const { return times_.empty() ? time_point::max() : times_.begin()->first; }
  std::optional<id> take_due(time_point now);  // the name of that one rests from now on

 private:
  using by_time = std::multimap<time_point, const std::string*>;
  struct line {
    std::set<std::pair<std::int64_t, id>> waiting;
    std::optional<by_time::iterator> armed;
    time_point by;  // if it is armed: it is not put off beyond that
  };
  void arm(const std::string& name, line&, time_point at);
  void put_off(const std::string& name, line&, time_point at);
  void set(const std::string& name, line&, time_point at);
  void rest(line&);

  std::unordered_map<std::string, line> lines_;
  by_time times_;
};

}  // namespace tyer::etcd
