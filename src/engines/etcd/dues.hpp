// What this client no longer keeps it takes away itself, at the deadline, also while its loop stands still.
//
// A key lives by a lease that it shares with others, and that etcd ends half a second late. So a key has a deadline of its
// own: if nobody moved it until then, it is deleted, from a timer of gRPC's. The lease is for when the process has died.
#pragma once

#include "engines/etcd/link.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tyer::etcd {

// Thread safety: everything from any thread.
class dues : public std::enable_shared_from_this<dues> {
 public:
  using on_due = std::function<void(const std::string& key, std::int64_t modified)>;

  dues(const core::clock& c, on_due f) : clock_(c), on_due_(std::move(f)) {}

  // Due then, unless it is set again; as it was written at that revision (0: not known yet).
  void set(const std::string& key, std::int64_t modified, time_point due);
  void forget(const std::string& key);
  bool awaits(const std::string& key) const;  // its time has not come yet
  void close();

  // gRPC waits for its timers by the wall clock: set back, it makes them as much late. The thread in run() sees to those.
  time_point late_at() const;
  void ring_if_late();

 private:
  struct due {
    time_point at;
    std::int64_t modified = 0;
  };
  void arm(time_point);  // with the mutex held
  void rang();
  void take_due();  // with the mutex held

  const core::clock& clock_;
  mutable std::mutex mutex_;
  on_due on_due_;
  std::map<std::string, due> all_;
  time_point armed_ = time_point::max();
  bool closed_ = false;
};

}  // namespace tyer::etcd
