#include <tyer/fence.hpp>
#include <tyer/recipes/store.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using std::chrono::milliseconds;

store::~store() = default;

struct memory_store::state {
  struct entry;
  using by_end = std::multimap<lease_clock::time_point, entry*>;
  struct entry {
    fence_marks marks;
    std::optional<std::string> value;
    by_end::iterator ends{};  // of a value
  };

  static std::optional<found> look(const entry& e, lease_clock::time_point at) {
    if (!e.value) return {};
    const auto left = std::chrono::floor<milliseconds>(e.ends->first - at);
    if (left.count() <= 0) return {};
    return found{*e.value, left};
  }

  // The time. No value that has ended by then is kept: only its fence is.
  lease_clock::time_point forget_ended() {
    const auto at = now();
    while (!ends.empty() && ends.begin()->first <= at) forget(*ends.begin()->second);
    return at;
  }
  void forget(entry& e) {
    ends.erase(e.ends);
    e.value.reset();
  }
  void keep(entry& e, const fresh& made, lease_clock::time_point at) {
    const auto most = std::chrono::floor<milliseconds>(lease_clock::time_point::max() - at);
    auto copy = made.value;
    e.ends = ends.emplace(at + std::min(made.lives_for, most), &e);
    e.value = std::move(copy);
  }

  clock now;
  std::mutex mutex;
  std::map<std::string, entry, std::less<>> entries;
  by_end ends;
};

memory_store::memory_store(clock now) : state_(std::make_unique<state>()) { state_->now = std::move(now); }
memory_store::~memory_store() = default;

std::optional<found> memory_store::find(std::string_view key) {
  const std::lock_guard guard{state_->mutex};
  const auto at = state_->forget_ended();
  const auto e = state_->entries.find(key);
  return e == state_->entries.end() ? std::nullopt : state_->look(e->second, at);
}

entered memory_store::enter(std::string_view key, const fence_pass& shown) {
  const std::lock_guard guard{state_->mutex};
  const auto at = state_->forget_ended();
  auto& e = state_->entries[std::string{key}];
  if (!e.marks.enter(shown)) return {};
  return {true, state_->look(e, at)};
}

bool memory_store::put(std::string_view key, const fence_pass& shown, const fresh& made) {
  const std::lock_guard guard{state_->mutex};
  const auto at = state_->forget_ended();
  auto& e = state_->entries[std::string{key}];
  if (!e.marks.enter(shown)) return false;
  if (e.value) state_->forget(e);
  if (made.lives_for.count() > 0) state_->keep(e, made, at);
  return true;
}

bool memory_store::erase(std::string_view key, const fence_pass& shown) { return put(key, shown, {}); }

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
