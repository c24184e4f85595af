// Keys that nobody keeps any more, taken away over the way that the link points at: several in one transaction, each only if
// it is still as it was written at that revision.
//
// It knows no bound: who asks (overdue.hpp) asks for a few at a time, and for none while nobody can be reached.
// Thread safety: everything from any thread.
#pragma once

#include "engine/engine.hpp"
#include "engines/etcd/rpc.pb.h"
#include "engines/etcd/wire/wire.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tyer::etcd {

class sweeper {
 public:
  struct one {
    std::string key;
    std::int64_t modified = 0;  // 0: not known, so it is only looked for
  };
  struct verdict {
    one what;
    pb::KeyValue there;  // what lies there now; its revisions are 0: nothing does
  };
  using told = std::function<void(const wire::status&, std::vector<verdict>)>;

  explicit sweeper(wire::loop& l) : loop_(l) {}

  void aim(std::shared_ptr<wire::channel>, std::string token);  // none: nobody can be reached
  bool aimed() const;

  // Told once, at the latest when that time is over, also while nobody runs the loop; or at once.
  void sweep(std::vector<one>, std::chrono::milliseconds within, told);

  wire::loop& loop() const { return loop_; }

 private:
  wire::loop& loop_;
  mutable std::mutex mutex_;
  std::shared_ptr<wire::channel> to_;
  std::string token_;
};

}  // namespace tyer::etcd
