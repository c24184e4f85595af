// What every rung of the ladder is given: the shop whose tickets are sold, and the points at which the fault comes.
#pragma once

#include "../stories/redis.hpp"

#include <tyer/fence_pass.hpp>

#include <chrono>
#include <string>

namespace ladder {

using namespace std::chrono_literals;

inline constexpr auto ttl = 3s;

// "NAME:COUNT:HOW" of LADDER_FAULT: when the point NAME is passed for the COUNT-th time, the process says so on its standard output.
// HOW: it stops itself (stop: SIGSTOP), or this thread is just slow for twice the ttl (slow), or until there is a line on the
// standard input (wait). What comes then, tools/ladder does: SIGKILL, SIGCONT after a while, the end of a master.
void at(const char* point);

// The tickets: in a Redis of their own, which nothing happens to.
class shop {
 public:
  shop(const std::string& uri, std::string rung);

  // Reads how many are left, thinks, and writes one less: what a lock is for. False: sold out.
  bool sell();
  // The same, with a fence: refused if a later holder was here.
  bool sell(const tyer::fence_pass& shown);

  void count(const char* what);  // a mistake that was seen

 private:
  stories::redis redis_;
  std::string stock_, sold_, fence_, counts_;
};

inline const char* const unlock_script =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

}  // namespace ladder
