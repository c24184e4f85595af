// What a client costs the process it lives in, and what it shows of it.
#include "contract/api/fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

namespace contract {
namespace {

std::set<int> descriptors() {
  std::set<int> all;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    all.insert(std::stoi(entry.path().filename()));
  }
  return all;
}

int number_in(const std::string& file, const std::string& key, int base) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::stoi(line.substr(key.size()), nullptr, base);
  }
  return -1;
}

int threads() { return number_in("/proc/self/status", "Threads:", 10); }

template <class Kind>
class process : public contract_of<Kind> {};
TYPED_TEST_SUITE(process, exclusive_kinds);

TYPED_TEST(process, a_client_has_few_threads_and_every_descriptor_is_closed_on_exec) {
  { auto warm = this->connect(); }  // what is opened once for the process is not the client's
  const int threads_before = threads();
  const auto before = descriptors();
  {
    auto c = this->connect();
    auto h = this->make(c).acquire();
    // One for I/O, one for deadlines, one for callbacks; and where Asio resolves names it keeps one for that. Of several servers that know
    // nothing of each other, each has an I/O thread too.
    const auto uri = engine_uri();
    const auto servers = static_cast<int>(std::ranges::count(uri, ',')) + 1;
    EXPECT_LE(threads(), threads_before + 3 + servers * (servers > 1 ? 2 : 1));
    for (const int fd : descriptors()) {
      if (before.contains(fd)) continue;
      const int flags = number_in("/proc/self/fdinfo/" + std::to_string(fd), "flags:", 8);
      if (flags == -1) continue;  // the listing's own
      EXPECT_TRUE((flags & O_CLOEXEC) != 0) << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    }
  }
  EXPECT_TRUE(eventually([&] { return threads() <= threads_before; }));
  // A library below may close a socket from a thread of its own.
  EXPECT_TRUE(eventually([&] { return descriptors().size() <= before.size(); })) << "descriptors leak";
}

TYPED_TEST(process, ten_thousand_waiters_need_no_more_threads_than_one) {
  constexpr int waiters = 10'000;
  // Where nothing is handed on inside a client each costs the engine some writes, and a part of them says as much.
  const int awaited = this->can().handoffs ? waiters : waiters / 10;
  std::atomic<int> served{0}, failed{0};
  std::promise<void> all;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s, .local_handoffs = 255});
  auto h = lock.acquire();
  auto one = acquire_later(lock);
  const int with_one = threads();

  for (int i = 0; i < waiters; ++i) {
    acquire_then(lock, [&](answer a) {
      if (a.why || !a.hold) ++failed;
      if (++served == awaited) all.set_value();
    });
  }
  EXPECT_LE(threads(), with_one);
  h.release();
  one.done.get().hold.release();
  EXPECT_LE(threads(), with_one);
  soon(all.get_future(), 6 * patience);  // a thousand turns, on a machine that has other things to do
  EXPECT_EQ(failed.load(), 0);
  c.close();  // what still waits is told here, not by what is destroyed later
}

TYPED_TEST(process, who_holds_and_who_waits_is_shown_with_its_call_site) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect({.label = "the till"}), b = this->connect();
  auto held_lock = this->make(a), waiting_lock = this->make(b);
  const auto shows = [](const tyer::engine::entry& e, const std::string& text) {
    return e.owner.find(text) != std::string::npos;
  };
  const auto line = std::to_string(__LINE__ + 1);
  auto h = held_lock.acquire();
  auto waiter = acquire_later(waiting_lock);
  ASSERT_TRUE(this->queue_has(1));
  const auto held = this->raw().holding(this->name()), waits = this->raw().waiting(this->name());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_TRUE(shows(held.front(), "the till")) << held.front().owner;
  EXPECT_TRUE(shows(held.front(), "pid " + std::to_string(::getpid()))) << held.front().owner;
  EXPECT_TRUE(shows(held.front(), "process_test.cpp:" + line)) << held.front().owner;
  EXPECT_TRUE(shows(waits.front(), "pid " + std::to_string(::getpid()))) << waits.front().owner;
}

template <class Kind>
class process_std_face : public contract_of<Kind> {};
TYPED_TEST_SUITE(process_std_face, lockable_kinds);

TYPED_TEST(process_std_face, under_a_guard_the_place_where_the_lock_was_made_is_shown) {
  if (!this->can().owners) GTEST_SKIP() << no_owners;
  auto c = this->connect();
  const auto line = std::to_string(__LINE__ + 1);
  typename TypeParam::type lock{c, this->name()};
  const std::scoped_lock guard{lock};
  const auto held = this->raw().holding(this->name());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_NE(held.front().owner.find("process_test.cpp:" + line), std::string::npos) << held.front().owner;
}

}  // namespace
}  // namespace contract
