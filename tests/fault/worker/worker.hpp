// One thread that locks, works and writes, over and over.
#pragma once

#include "common/socket.hpp"
#include "worker/canceller.hpp"
#include "worker/journal.hpp"
#include "worker/witness.hpp"

#include <tyer/client.hpp>
#include <tyer/mutex.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace fault {

struct settings {
  std::string uri, history, resource;
  std::chrono::milliseconds ttl{1000};
  std::chrono::milliseconds request_timeout{500};
  std::uint32_t workers = 8, names = 16;
  std::uint64_t seed = 1;
};

// What the workers of a process share.
struct process {
  const settings& chosen;
  history_writer& history;
  canceller& cancels;
  std::vector<std::unique_ptr<tyer::mutex>>& locks;  // by number of the name; 0 is the hot one
  std::atomic<std::uint32_t> serial{0};
  std::atomic<bool> draining{false};  // finish what was begun, begin nothing new
};

// How a worker asks for a lock, in percent of its turns:
//
//   40  acquire()                          waits for ever
//   30  try_acquire_for(20 to 1500 ms)
//   10  std::scoped_lock                   waits for ever
//   10  std::unique_lock, try_lock_for
//   10  try_acquire()
//
// One in twenty of the first two is cancelled. Three turns in ten are for the hot name.
//
// Odd workers skip valid() before they write, on purpose: only the resource stands between them and a stale write.
class worker {
 public:
  worker(process& p, std::uint16_t number);
  void run();

 private:
  using milliseconds = std::chrono::milliseconds;

  void turn();
  void by_acquire(tyer::mutex& lock);
  void by_try_acquire_for(tyer::mutex& lock);
  void by_try_acquire(tyer::mutex& lock);
  void by_scoped_lock(tyer::mutex& lock);
  void by_unique_lock(tyer::mutex& lock);

  void own(tyer::hold h);                     // uses it, then gives it back in one of two ways
  void use(witness& w, std::uint64_t token);  // holds it for a while, and writes
  milliseconds hold_length();
  void offer_write(const witness& w, std::uint64_t token);

  std::stop_token perhaps_cancelled();
  std::uint64_t next_hold();
  std::int64_t between(std::int64_t low, std::int64_t high);
  bool one_in(int n) { return between(1, n) == 1; }

  process& process_;
  journal journal_;
  std::mt19937_64 random_;
  const bool skips_valid_;
  descriptor resource_;
};

}  // namespace fault
