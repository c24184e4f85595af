// The "server" behind memory://: a catalogue, a mutex, a clock, and the inboxes of the connected engines.
//
// It lives as long as an engine on it. Stores with a name are found again by that name, everywhere in this process.
//
// Thread safety: everything from any thread. Work runs one at a time, in the order it was submitted.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "core/id.hpp"
#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/inbox.hpp"
#include "engines/memory/catalogue.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::memory {

using engine::delivery;
using engine::inbox;

class store {
 public:
  // The clock must outlive the store. Tokens count microseconds of `clock + ahead`, at least.
  explicit store(const core::clock& clock, lease_clock::duration ahead = {}, const limits& = {});

  // --- for engines ---

  struct visit {
    catalogue& names;
    const std::string& name;
    store_time now;
    lease_clock::duration age;  // since it was submitted
    bool unheard;               // its answer is lost
    notices& out;
  };
  using work = core::function<void(const visit&)>;

  // Does the work on this name now or, while paused, on resume(), and sends the notices. False: the store is paused, or the
  // answer is lost.
  bool submit(std::string name, work);

  void join(std::uint64_t nonce, std::shared_ptr<inbox>);  // gets up() at once
  void leave(const inbox&);
  void watch(std::string name, std::string shown, std::shared_ptr<inbox>, bool on);

  // --- for tests ---

  // Work is accepted but not done until resume(): a partition, as seen from the clients. Work that a client has given up
  // meanwhile is still done, as by a server that reads an old request from its socket.
  void pause();
  void resume();

  // The next work is done, and its answer is lost.
  void lose_next_reply();

  // As a restart without persistence: every hold, waiter and floor is forgotten, and all are connected to a new server.
  void lose_everything();

  // As when an operator breaks exactly this hold: the engine forgets it, and its client is told.
  fate lose(const id&);

  census count() const;

  // How much work was done so far.
  std::uint64_t performed() const;

 private:
  struct member {
    std::uint64_t nonce;
    std::shared_ptr<inbox> box;
  };
  struct watcher {
    std::string shown;  // the name without the watcher's prefix
    std::shared_ptr<inbox> box;
  };
  struct parked {
    std::string name;
    work what;
    store_time since;
  };

  store_time now() const noexcept { return store_time{clock_.now().time_since_epoch() + ahead_}; }
  bool perform(parked&);
  void tell(const notices&);
  void tell_up(inbox&) const;
  void tell_changed(const std::string& name);

  const core::clock& clock_;
  const lease_clock::duration ahead_;
  mutable std::mutex mutex_;
  catalogue catalogue_;
  std::vector<member> members_;
  std::multimap<std::string, watcher, std::less<>> watchers_;
  std::vector<parked> parked_;
  bool paused_ = false;
  std::size_t replies_to_lose_ = 0;
  std::uint64_t performed_ = 0;
  core::random_ids ids_;
  std::string server_id_;
};

// The store of this name, made if there is none. With a flowing clock the store has its own; a clock that stands still must
// outlive it.
std::shared_ptr<store> named_store(std::string_view name, const core::clock&);

// For tests: an engine on a store of their own.
std::unique_ptr<engine::engine> make_engine(std::shared_ptr<store>, const engine::environment&);

}  // namespace tyer::memory
