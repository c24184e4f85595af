// Another library's client beside Tyer, as a program of its own (etcd/go, zk/peers). It is asked for
//
//   ADDRESS one MS            p50 of lock + unlock, one caller, in us
//   ADDRESS many CALLERS MS   cycles a second, each caller on a name of its own, one session
//   ADDRESS handover N MS     us for each change of owner, N callers on one name
//
// and says one number.
#pragma once

#include "common/cycles.hpp"

#include <string>

namespace bench {

class peer {
 public:
  // The variable has the command, as a shell takes it: tools/bench sets it if that program could be made.
  peer(const std::string& uri, const char* variable);

  bool is_there() const { return !command_.empty(); }

  double one(milliseconds run) const;
  double many(int callers, milliseconds run) const;
  double handover(int callers, milliseconds run) const;

 private:
  double measure(const std::string& what) const;

  std::string command_, address_;
};

}  // namespace bench
