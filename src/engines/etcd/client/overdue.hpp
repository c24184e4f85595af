// What this client no longer keeps it takes away itself, at the deadline, also while its loop stands still.
//
// A key lives by a lease that it shares with others, and that etcd ends half a second late. So a key has a deadline of its
// own: if nobody moved it until then, it is deleted, by a timer that needs nobody in run(). The lease is for when the process has died.
//
// After an outage thousands are due together. They go a few at a time, so that nothing else has to wait for them, and none of
// them while nobody can be reached; when nobody answers, the next try is half a second later.
#pragma once

#include "engines/etcd/client/link.hpp"
#include "engines/etcd/client/sweeper.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tyer::etcd {

// Thread safety: everything from any thread.
class overdue : public std::enable_shared_from_this<overdue> {
 public:
  static constexpr std::size_t keys_at_once = 64;  // of a transaction; etcd allows 128 operations in one
  static constexpr std::size_t sweeps_max = 4;

  class errand;

  // Told from any thread, perhaps after close(). What had no answer is not told: it is tried again. So is each verdict that
  // the errand is not told to be settled before it goes, as when there is no memory for it.
  struct listener {
    std::function<void(std::vector<sweeper::verdict>, std::shared_ptr<errand>)> swept;
    std::function<void(const wire::status&)> failed;
  };

  overdue(const core::clock& c, std::shared_ptr<sweeper> s, std::chrono::milliseconds within, listener l)
      : clock_(c), sweeper_(std::move(s)), within_(within), listener_(std::move(l)) {}

  // Due then, unless it is set again; as it was written at that revision (0: not known yet).
  void set(const std::string& key, std::int64_t modified, time_point due);
  // The same for one whose time has not come: false if it is being taken away, or was never set. A deletion that has begun
  // cannot be called back, so what was not put off in time must be written anew by whoever wants to have it.
  bool put_off(const std::string& key, std::int64_t modified, time_point due);
  void forget(const std::string& key);
  bool awaits(const std::string& key) const;  // its time has not come yet
  void close();

  void ring_if_late();  // what was due while nobody could be reached

 private:
  using by_time = std::multimap<time_point, const std::string*>;
  struct due {
    std::int64_t modified = 0;
    by_time::iterator place;
  };
  using by_key = std::map<std::string, due>;

  // with the mutex held
  void put(const std::string& key, std::int64_t modified, time_point);
  void arm(time_point);
  bool take_some(errand&);

  void sweep();
  void came_back(const wire::status&, std::shared_ptr<errand>, std::vector<sweeper::verdict>);
  void ended(errand&) noexcept;

  const core::clock& clock_;
  const std::shared_ptr<sweeper> sweeper_;
  const std::chrono::milliseconds within_;
  const listener listener_;
  mutable std::mutex mutex_;
  by_key all_;
  by_time times_;
  time_point armed_ = time_point::max();
  time_point rests_until_ = time_point::min();
  std::size_t under_way_ = 0;
  bool closed_ = false;
};

// Some keys that are being asked about. Whatever is not settled when it goes is due again, which takes no memory.
// Thread safety: for one thread at a time.
class overdue::errand {
 public:
  explicit errand(std::weak_ptr<overdue> of) : of_(std::move(of)) { taken_.reserve(keys_at_once); }
  errand(const errand&) = delete;
  ~errand();

  void settled(std::size_t i) { taken_[i] = {}; }  // in the order of the verdicts

 private:
  friend overdue;
  struct taken {
    by_key::node_type key;
    by_time::node_type time;
  };

  const std::weak_ptr<overdue> of_;
  std::vector<taken> taken_;
  bool under_way_ = false;
};

}  // namespace tyer::etcd
