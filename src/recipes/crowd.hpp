// Callers of one object that want the same key: one of them asks the engine, and the others wait in memory for what it
// stores. Otherwise each would take the lock in turn, only to find the value there.
#pragma once

#include <tyer/clock.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace recipes {
namespace detail {

// Thread safety: everything may be called from any thread.
class crowd {
  struct group {
    std::vector<std::thread::id> asking;
    std::size_t waiting = 0;
    std::uint64_t found = 0;  // how many of those who asked have left with the value stored
    std::condition_variable changed;
  };
  using groups = std::map<std::string, group, std::less<>>;

 public:
  // The right to ask the engine for a key. Its end lets the others look into the store, or the next one ask.
  class turn {
   public:
    turn(crowd& in, groups::iterator at) noexcept : in_(&in), at_(at) {}
    turn(turn&& other) noexcept : in_(std::exchange(other.in_, nullptr)), at_(other.at_), stored_(other.stored_) {}
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (in_ != nullptr) in_->leave(at_, stored_);
    }

    void stored() noexcept { stored_ = true; }

   private:
    crowd* in_;
    groups::iterator at_;
    bool stored_ = false;
  };

  // Nothing: somebody else has asked meanwhile, and the store has the value. A caller that has waited for `at_most` gets a
  // turn beside whoever has one, and so does a thread that has one already.
  std::optional<turn> ask(std::string_view key, lease_clock::duration at_most) {
    std::unique_lock guard{mutex_};
    const auto at = groups_.try_emplace(std::string{key}).first;
    group& g = at->second;
    const auto me = std::this_thread::get_id();
    if (!g.asking.empty() && std::ranges::find(g.asking, me) == g.asking.end() && another_found(g, guard, at_most)) {
      drop_if_empty(at);
      return {};
    }
    g.asking.push_back(me);
    return std::optional<turn>{std::in_place, *this, at};
  }

 private:
  static bool another_found(group& g, std::unique_lock<std::mutex>& guard, lease_clock::duration at_most) {
    const auto before = g.found;
    ++g.waiting;
    g.changed.wait_for(guard, at_most, [&] { return g.found != before || g.asking.empty(); });
    --g.waiting;
    return g.found != before;
  }

  void leave(groups::iterator at, bool stored) noexcept {
    const std::lock_guard guard{mutex_};
    group& g = at->second;
    g.asking.erase(std::ranges::find(g.asking, std::this_thread::get_id()));
    if (stored) ++g.found;
    stored ? g.changed.notify_all() : g.changed.notify_one();
    drop_if_empty(at);
  }

  void drop_if_empty(groups::iterator at) {
    if (at->second.asking.empty() && at->second.waiting == 0) groups_.erase(at);
  }

  std::mutex mutex_;
  groups groups_;
};

}  // namespace detail
}  // namespace recipes
}  // namespace v1
}  // namespace tyer
