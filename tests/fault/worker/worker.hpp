// One thread that locks, works and writes, over and over.
#pragma once

#include "common/socket.hpp"
#include "worker/canceller.hpp"
#include "worker/journal.hpp"
#include "worker/plan.hpp"
#include "worker/witness.hpp"

#include <tyer/client.hpp>
#include <tyer/multi_mutex.hpp>
#include <tyer/mutex.hpp>
#include <tyer/recursive_mutex.hpp>
#include <tyer/semaphore.hpp>
#include <tyer/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace fault {

struct settings {
  std::string uri, history, resource;
  std::string mix = "mutex";
  std::string role = "busy";
  std::chrono::milliseconds ttl{1000};
  std::chrono::milliseconds request_timeout{500};
  std::uint32_t workers = 8, names = 16;
  std::uint32_t kept_from = 0, kept = 0;  // of the names that somebody keeps: those of this process
  std::uint64_t seed = 1;
};

// By the number of the name.
struct locks {
  std::map<std::uint16_t, tyer::mutex> mutexes;
  std::map<std::uint16_t, tyer::shared_mutex> shared;
  std::map<std::uint16_t, tyer::semaphore> semaphores;
  std::map<std::uint16_t, tyer::recursive_mutex> recursive;

  locks(const tyer::client& c, const plan& p, const tyer::lock_options& o);
};

// What the workers of a process share.
struct process {
  const settings& chosen;
  const plan& names;
  history_writer& history;
  canceller& cancels;
  const tyer::client& client;
  locks all;
  std::atomic<std::uint32_t> serial{0};
  std::atomic<bool> draining{false};  // finish what was begun, begin nothing new

  tyer::lock_options options() const { return {.ttl = chosen.ttl}; }
};

// How a worker asks for a mutex, in percent of its turns:
//
//   40  acquire()                          waits for ever
//   30  try_acquire_for(20 to 1500 ms)
//   10  std::scoped_lock                   waits for ever
//   10  std::unique_lock, try_lock_for
//   10  try_acquire()
//
// One in twenty of the first two is cancelled. Three turns in ten are for the hot name of the primitive. The others are
// asked for in the ways of acquire(); nine of ten that share read; one reader in ten wants to write after all, and one
// writer in four goes on as a reader; one in four takes two permits.
//
// Odd workers skip valid() before they write, on purpose: only the resource stands between them and a stale write.
class worker {
 public:
  worker(process& p, std::uint16_t number);
  void run();

  // Instead: takes the name and does nothing but keep it. A lost hold is given back, and waited for again.
  void only_hold(std::uint16_t name);
  // Instead: waits for the name without a limit (or tries again and again), in the way that does not go with whoever
  // keeps it; uses it for a moment.
  void only_wait(std::uint16_t name);

 private:
  using milliseconds = std::chrono::milliseconds;
  using witnesses = std::span<witness* const>;

  void turn();

  void by_mutex(std::uint16_t name);
  void by_scoped_lock(tyer::mutex& lock);
  void by_unique_lock(tyer::mutex& lock);
  void by_shared(std::uint16_t name);
  void by_semaphore(std::uint16_t name);
  void by_several(const part& names);
  void by_recursive(std::uint16_t name);

  tyer::hold ask(const tyer::acquirable& lock);  // in one of the ways; empty: that was written down
  tyer::multi_hold ask(const tyer::multi_mutex& lock, tyer::failure& why);
  void upgrade(const tyer::shared_mutex& lock, tyer::hold& h, std::optional<witness>& w);
  void downgrade(const tyer::shared_mutex& lock, tyer::hold& h, std::optional<witness>& w);
  void enter_again(tyer::recursive_mutex& lock, witness& w);

  template <class Use>
  bool with_kept(std::uint16_t name, bool holds, const Use& use);
  tyer::hold wait_for(const tyer::acquirable& lock, const wanted& what);
  tyer::hold try_for(const tyer::acquirable& lock, const wanted& what);
  void keep(tyer::hold h);  // until it is lost, or all is over

  void own(tyer::hold h);        // uses it, then gives it back
  void give_back(tyer::hold h);  // in one of two ways
  void use(witnesses all);       // holds them for a while, and writes
  void use(witness& w) {
    witness* const one = &w;
    use({&one, 1});
  }
  milliseconds hold_length(std::uint16_t name);
  void offer_write(const witness& w);

  std::stop_token perhaps_cancelled();
  std::uint64_t next_hold();
  std::uint16_t name_in(const part& p);
  std::int64_t between(std::int64_t low, std::int64_t high);
  bool one_in(int n) { return between(1, n) == 1; }

  process& process_;
  journal journal_;
  std::vector<journal> more_journals_;  // for the other names of a multi_mutex
  std::mt19937_64 random_;
  const bool skips_valid_;
  descriptor resource_;
};

}  // namespace fault
