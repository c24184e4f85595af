#include <tyer/fence.hpp>
#include <tyer/recipes/store.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using std::chrono::milliseconds;

store::~store() = default;

struct memory_store::state {
  struct entry {
    fence_marks marks;
    std::optional<std::string> value;
    lease_clock::time_point ends{};
  };

  std::optional<found> look(const entry& e) const {
    const auto left = std::chrono::floor<milliseconds>(e.ends - now());
    if (!e.value || left.count() <= 0) return {};
    return found{*e.value, left};
  }

  clock now;
  std::mutex mutex;
  std::map<std::string, entry, std::less<>> entries;
};

memory_store::memory_store(clock now) : state_(std::make_unique<state>()) { state_->now = std::move(now); }
memory_store::~memory_store() = default;

std::optional<found> memory_store::find(std::string_view key) {
  const std::lock_guard guard{state_->mutex};
  const auto at = state_->entries.find(key);
  return at == state_->entries.end() ? std::nullopt : state_->look(at->second);
}

entered memory_store::enter(std::string_view key, const fence_pass& shown) {
  const std::lock_guard guard{state_->mutex};
  auto& e = state_->entries[std::string{key}];
  if (!e.marks.enter(shown)) return {};
  return {true, state_->look(e)};
}

bool memory_store::put(std::string_view key, const fence_pass& shown, const fresh& made) {
  const std::lock_guard guard{state_->mutex};
  auto& e = state_->entries[std::string{key}];
  if (!e.marks.enter(shown)) return false;
  e.value.reset();
  if (made.lives_for.count() <= 0) return true;
  const auto now = state_->now();
  const auto most = std::chrono::floor<milliseconds>(lease_clock::time_point::max() - now);
  e.ends = now + std::min(made.lives_for, most);
  e.value = made.value;
  return true;
}

bool memory_store::erase(std::string_view key, const fence_pass& shown) { return put(key, shown, {}); }

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
