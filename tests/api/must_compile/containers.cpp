// Lock objects in containers, and as members of what is moved.
#include <tyer/tyer.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

template <class T>
constexpr bool moves = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;
static_assert(moves<tyer::mutex> && moves<tyer::shared_mutex> && moves<tyer::recursive_mutex> &&
              moves<tyer::multi_mutex>);
static_assert(moves<tyer::semaphore> && moves<tyer::election> && moves<tyer::admin> && moves<tyer::acquirable>);
static_assert(moves<tyer::client> && moves<tyer::hold> && moves<tyer::multi_hold> && moves<tyer::observation>);

// A name and nothing else: copied like any value.
static_assert(std::is_copy_constructible_v<tyer::semaphore> && std::is_copy_constructible_v<tyer::election>);

struct shard {
  tyer::mutex lock;
  int value = 0;
};

void contained(const tyer::client& c) {
  std::vector<tyer::semaphore> slots{{c, "a", 3}, {c, "b", 3}};
  std::vector<tyer::mutex> mutexes;
  mutexes.emplace_back(c, "a");
  mutexes.push_back({c, "b"});
  std::array<tyer::mutex, 2> two{tyer::mutex{c, "a"}, tyer::mutex{c, "b"}};
  std::map<std::string, tyer::shared_mutex> named;
  named.try_emplace("a", c, "a");
  std::vector<shard> shards;
  shards.push_back({{c, "a"}, 1});
  std::optional<tyer::election> office{std::in_place, c, "a"};
  const tyer::acquirable any = two[0];
  std::vector<tyer::acquirable> all{any, slots[0].permits(2), mutexes[0], *office};
}
