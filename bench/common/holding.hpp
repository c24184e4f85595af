// Many names that one client holds, on any engine.
#pragma once

#include "common/cycles.hpp"

#include <tyer/tyer.hpp>

#include <deque>
#include <string>

namespace bench {

class holding {
 public:
  // Returns when all are held. Each name is `prefix` and a number.
  holding(const tyer::client&, const std::string& prefix, int holds, milliseconds ttl);

  void check() const;  // throws if one was lost

 private:
  std::deque<tyer::mutex> mutexes_;
  std::deque<tyer::hold> held_;
};

}  // namespace bench
