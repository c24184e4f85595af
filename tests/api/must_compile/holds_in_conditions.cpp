// A hold that has a name is a condition, wherever it stands.
#include <tyer/tyer.hpp>

#include <algorithm>
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

void work();
tyer::hold& kept();

void used(tyer::mutex& m, tyer::multi_mutex& all, tyer::failure& why) {
  if (tyer::hold h = m.try_acquire()) work();
  if (const tyer::hold h = m.try_acquire_for(why, 1s)) work();
  if (auto h = m.try_acquire(); h) work();
  if (auto h = m.try_acquire(); !h) return;
  if (auto&& h = m.try_acquire()) work();
  if (const auto& h = m.try_acquire()) work();
  if (tyer::multi_hold h = all.try_acquire_for(1s)) work();
  if (auto h = all.try_acquire(); h && h.valid()) work();
  while (tyer::hold h = m.try_acquire()) work();
  for (tyer::hold h; !h; h = m.try_acquire_for(1s)) work();
}

bool asked(tyer::mutex& m, tyer::multi_mutex& all) {
  const tyer::hold h = m.try_acquire();
  bool ok = static_cast<bool>(h);
  ok = h ? ok : !ok;
  const bool again{h}, both(all.held());
  tyer::hold taken = std::move(kept());
  if (kept() || !taken) return again && both;
  return m.try_acquire().valid() || ok;  // who wants to know no more asks for what it means
}

void kept_in_other_things(tyer::mutex& m) {
  std::optional<tyer::hold> perhaps;
  perhaps = m.acquire();
  if (perhaps && *perhaps && perhaps.value()) work();
  std::vector<tyer::hold> many(3);
  if (std::ranges::any_of(many, [](const tyer::hold& h) { return static_cast<bool>(h); })) work();
  if (std::ranges::all_of(many, &tyer::hold::valid)) work();
}

// Generic code can ask before it tries.
static_assert(std::constructible_from<bool, tyer::hold&> && std::constructible_from<bool, const tyer::multi_hold&>);
static_assert(!std::constructible_from<bool, tyer::hold> && !std::constructible_from<bool, tyer::multi_hold>);
static_assert(!std::convertible_to<tyer::hold&, bool>);
