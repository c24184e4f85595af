// Keys that nobody keeps any more, taken away over the way that the link points at: several in one transaction, each only if
// it is still as it was written at that revision.
//
// It knows no bound: who asks (dues.hpp) asks for a few at a time, and for none while nobody can be reached.
// Thread safety: everything from any thread.
#pragma once

#include "engine/engine.hpp"
#include "engines/etcd/rpc.pb.h"
#include "engines/etcd/wire.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tyer::etcd {

class sweeper : public std::enable_shared_from_this<sweeper> {
 public:
  struct one {
    std::string key;
    std::int64_t modified = 0;  // 0: not known, so it is only looked for
  };
  struct verdict {
    one what;
    std::int64_t there = 0;  // at which revision that was written which lies there now; 0: nothing lies there
  };
  using told = std::function<void(const wire::status&, std::vector<verdict>)>;

  void aim(std::shared_ptr<wire::channel>, std::string token);  // none: nobody can be reached
  bool aimed() const;

  // Told once, at the latest when that time is over, from a thread of gRPC's or at once.
  void sweep(std::vector<one>, engine::time_point now, std::chrono::milliseconds within, told);

  // gRPC ends calls at their deadlines, but waits for these by the wall clock. The thread in run() sees to those.
  void cancel_overdue(engine::time_point now);
  engine::time_point next() const;

 private:
  struct call {
    engine::time_point by;
    std::shared_ptr<wire::under_way> on_the_wire;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<wire::channel> to_;
  std::string token_;
  std::map<std::uint64_t, call> calls_;
  std::uint64_t last_ = 0;
};

}  // namespace tyer::etcd
