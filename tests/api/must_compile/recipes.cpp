// Recipes: in containers, with stores and callbacks of any kind.
#include <tyer/recipes.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace tyer::recipes;

static_assert(std::is_nothrow_move_constructible_v<single_flight> && std::is_nothrow_move_assignable_v<single_flight>);
static_assert(std::is_nothrow_move_constructible_v<striped> && !std::is_copy_constructible_v<striped>);
static_assert(std::is_copy_constructible_v<once_per> && std::is_copy_constructible_v<cached>);

// A store of one's own, without a word about fences that it cannot check.
class plain final : public store {
 public:
  std::optional<found> find(std::string_view) override { return found{"value", 1s}; }
  entered enter(std::string_view, const tyer::fence_pass&) override { return {true, std::nullopt}; }
  bool put(std::string_view, const tyer::fence_pass&, const fresh&) override { return true; }
  bool erase(std::string_view, const tyer::fence_pass&) override { return true; }
};

std::string values(const tyer::client& c, const std::string& key) {
  auto where = std::make_shared<plain>();
  std::vector<single_flight> flights;
  flights.emplace_back(c, "x", where);
  flights.emplace_back(c, "y", where, single_flight_options{.lock = {.ttl = 5s}, .refresh_before = 10s});
  const cached cache{c, "x", where, {.wait_at_most = 5s}};
  cache.write(key, [](const tyer::hold& h) { static_cast<void>(h.fence()); });
  const shared_value token{c, {"redis://localhost", "token", 5s}, where, {.ends_before = 1min}};
  std::ignore = token.replace("t", [](auto&&) { return fresh{"u", 2h}; });
  return flights.back().get(key, [&](const tyer::hold&) {
    return fresh{token.get([](auto&&) { return fresh{"t", 2h}; }), 1h};
  }) + cache.read(key, [](const tyer::hold&) -> fresh { return {"value", 10min}; });
}

bool jobs(const tyer::client& c) {
  const once_per hourly{"redis://localhost", "hourly", 50min, {.label = "cron"}};
  const once_per tested{[] { return tyer::client{"memory://x"}; }, "hourly", 50min};
  struct {
    void operator()() && {}
  } once;
  return hourly.run([] {}) && tested.run(std::move(once)) && hourly.remaining(c) > 1min;
}

std::size_t parts(const tyer::client& c, std::stop_token stop) {
  striped s{c, "stock", 16, {.ttl = 5s}};
  const stripe_hold h = s.acquire("key", stop);
  stripe_hold any = s.acquire_any();
  any.held.release();
  return s.take([](std::size_t, const tyer::hold&) { return true; }, stop).value_or(h.stripe);
}

std::shared_ptr<store> in_redis() {
  return std::make_shared<redis_store>([](auto&, auto&, auto&) { return std::vector<std::string>{}; }, "shop:", 24h);
}
