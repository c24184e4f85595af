// etcd's own Go client beside Tyer, as a program of its own (go/main.go).
#pragma once

#include "common/cycles.hpp"

#include <string>

namespace bench {

class peer {
 public:
  explicit peer(const std::string& uri);

  // Whether tools/bench has built it, and says where in TYER_BENCH_GO.
  bool is_there() const { return !program_.empty(); }

  double one(milliseconds run) const;                    // p50 of lock + unlock in microseconds
  double many(int callers, milliseconds run) const;      // cycles per second
  double handover(int callers, milliseconds run) const;  // microseconds for each

 private:
  double measure(const std::string& what) const;

  std::string program_, address_;
};

}  // namespace bench
