// The end of a client does not wait for a name server.
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <dirent.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool answers = false;
std::atomic<int> lookups{0};

}  // namespace

// Comes back when the test says so.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  ++lookups;
  std::unique_lock lock{mutex};
  changed.wait_for(lock, std::chrono::seconds{60}, [] { return answers; });
  return EAI_AGAIN;
}

namespace tyer::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

int threads() {
  DIR* tasks = ::opendir("/proc/self/task");
  int n = 0;
  while (::readdir(tasks) != nullptr) ++n;
  ::closedir(tasks);
  return n;
}

class slow_name_server : public ::testing::TestWithParam<const char*> {};

void let_lookups(bool answer) {
  const std::lock_guard lock{::mutex};
  answers = answer;
  changed.notify_all();
}

void live_and_end(const char* uri) {
  let_lookups(false);
  lookups = 0;
  {
    client c{uri};
    const auto asked = clock::now() + 20s;
    while (lookups == 0 && clock::now() < asked) std::this_thread::sleep_for(1ms);
    ASSERT_GT(lookups, 0);
    failure why;
    const auto began = clock::now();
    const hold h = mutex{c, "order"}.try_acquire(why);
    EXPECT_EQ(why.code, errc::unavailable);
    c.close(100ms);
    EXPECT_LT(clock::now() - began, 10s);
  }  // nothing here may take a minute
  let_lookups(true);
}

TEST_P(slow_name_server, does_not_hold_up_the_end_of_a_client) {
  std::thread{[] {}}.join();  // a sanitizer has a thread of its own, from the first on
  const int before = threads();
  live_and_end(GetParam());
  // What was left running ends with the answer.
  for (const auto end = clock::now() + 20s; threads() > before && clock::now() < end;) std::this_thread::sleep_for(1ms);
  EXPECT_LE(threads(), before);
}

INSTANTIATE_TEST_SUITE_P(of, slow_name_server,
                         ::testing::Values("redis://lock.example:6379",
                                           "redis+sentinel://a.example:26379,b.example:26379/main",
                                           "redis+cluster://a.example:6379,b.example:6379",
                                           "redlock://a.example:6379,b.example:6379,c.example:6379",
                                           "redis://lock.example:6379?protocol=redisson"));

}  // namespace
}  // namespace tyer::test
