// How many threads a client has: what the documentation says, whatever the number of locks and of those who wait for them.
#include "contract/api/fixture.hpp"

#include <tyer/async.hpp>

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace contract {
namespace {

std::string called(const std::string& task) {
  std::ifstream file{"/proc/self/task/" + task + "/comm"};
  std::string name;
  std::getline(file, name);
  return name;
}

// Without those that have a name of their own.
std::set<std::string> threads() {
  const auto ours = called(std::to_string(::getpid()));
  std::set<std::string> found;
  DIR* tasks = ::opendir("/proc/self/task");
  while (const dirent* t = ::readdir(tasks)) {
    const std::string task = t->d_name;
    if (std::isdigit(static_cast<unsigned char>(task[0])) != 0 && called(task) == ours) found.insert(task);
  }
  ::closedir(tasks);
  return found;
}

// As <tyer/client.hpp> and docs/operations.md have it, and docs/engines/mysql.md.
std::size_t stated(const std::string& uri) {
  if (uri.starts_with("redlock")) return 3 + 2 * static_cast<std::size_t>(std::ranges::count(uri, ',') + 1);
  const auto is = [&](const char* scheme) { return uri.starts_with(scheme); };
  return is("redis") || is("etcd") || is("mysql") || is("mariadb") ? 4 : 3;
}

// Those that are new. Threads of earlier tests may still be on their way out.
std::size_t more_than(const std::set<std::string>& before) {
  const auto now = threads();
  return static_cast<std::size_t>(std::ranges::count_if(now, [&](const auto& t) { return !before.contains(t); }));
}

class client_threads : public fixture {};

// Three documents said three different numbers.
TEST_F(client_threads, a_client_has_as_many_as_the_documentation_says) {
  const auto before = threads();
  auto c = connect();
  tyer::mutex held{c, name()};
  std::vector<tyer::hold> some(1);
  some[0] = held.acquire();
  EXPECT_TRUE(eventually([&] { return more_than(before) == stated(engine_uri()); })) << more_than(before);

  // Others that are held, and many who wait.
  for (int i = 0; i < 20; ++i) some.push_back(tyer::mutex{c, name() + std::to_string(i)}.acquire());
  std::stop_source stop;
  std::atomic<int> ended{0};
  for (int i = 0; i < 50; ++i) {
    tyer::start_acquire(held, [&](tyer::failure, tyer::hold) { ++ended; }, stop.get_token());
  }
  EXPECT_EQ(more_than(before), stated(engine_uri()));
  stop.request_stop();
  EXPECT_TRUE(eventually([&] { return ended == 50; }));
  EXPECT_EQ(more_than(before), stated(engine_uri()));
}

TEST_F(client_threads, they_end_with_the_client) {
  const auto before = threads();
  {
    const auto c = connect();
    const auto h = tyer::mutex{c, name()}.acquire();
  }
  EXPECT_TRUE(eventually([&] { return more_than(before) == 0; })) << more_than(before);
}

}  // namespace
}  // namespace contract
