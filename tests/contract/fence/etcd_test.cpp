// The comparison of tyer/etcd.hpp in a transaction of the user's own, made with etcdctl: TYER_URI says in which layout.
#include <tyer/etcd.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using tyer::etcd::guard_txn;

constexpr auto patience = 20s;

std::string uri() { return std::getenv("TYER_URI"); }

std::string endpoints() {
  const auto text = uri();
  const auto begin = text.find("://") + 3;
  return text.substr(begin, text.find('?') - begin);
}

std::string etcdctl(const std::string& words, const std::string& input = {}) {
  const auto file = ::testing::TempDir() + "etcdctl-" + std::to_string(::getpid());
  std::ofstream{file} << input;
  const auto command = "etcdctl --endpoints=" + endpoints() + ' ' + words + " <" + file;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), &::pclose};
  std::string answer;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) answer += static_cast<char>(c);
  std::remove(file.c_str());
  return answer;
}

// Whether the transaction was applied.
bool write_if(const tyer::etcd::comparison& c, const std::string& value) {
  std::ostringstream text;
  text << "create(\"" << c.key << "\") = \"" << c.create_revision << "\"\n\nput guarded " << value << "\n\n\n\n";
  const auto answer = etcdctl("txn", text.str());
  EXPECT_TRUE(answer.starts_with("SUCCESS") || answer.starts_with("FAILURE")) << answer;
  return answer.starts_with("SUCCESS");
}

// How many hold the name of this hold or wait for it.
std::ptrdiff_t keys_beside(const tyer::hold& h) {
  const auto key = guard_txn(h).key;
  const auto listed = etcdctl("get --prefix --keys-only '" + key.substr(0, key.rfind('/') + 1) + "'");
  return std::ranges::count(listed, '/') / std::ranges::count(key, '/');
}

class guarded : public testing::Test {
 protected:
  // A name of its own for each test.
  const std::string name = std::string{"guard-"} + testing::UnitTest::GetInstance()->current_test_info()->name() + '-' +
                           std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  tyer::client one{uri()}, two{uri()};
  tyer::mutex first{one, name, {.ttl = 10s}}, second{two, name, {.ttl = 10s}};
};

TEST_F(guarded, is_applied_while_held_and_never_after) {
  auto h = first.acquire();
  const auto mine = guard_txn(h);
  EXPECT_TRUE(write_if(mine, "first"));
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  EXPECT_FALSE(write_if(mine, "stale"));
  auto next = second.acquire();
  EXPECT_FALSE(write_if(mine, "stale"));
  EXPECT_TRUE(write_if(guard_txn(next), "second"));
  EXPECT_NE(etcdctl("get guarded").find("second"), std::string::npos);
}

TEST_F(guarded, of_one_who_waited_first) {
  auto h = first.acquire();
  auto later = std::async(std::launch::async, [&] { return second.acquire(); });
  while (keys_beside(h) < 2) std::this_thread::sleep_for(1ms);
  const auto before = guard_txn(h);
  h.release();
  auto next = later.get();
  EXPECT_FALSE(write_if(before, "stale"));
  EXPECT_TRUE(write_if(guard_txn(next), "waited"));
}

TEST_F(guarded, what_was_broken_never_writes_again) {
  auto broken = first.acquire();
  const auto stale = guard_txn(broken);
  etcdctl("del '" + stale.key + "'");
  auto next = second.acquire();
  EXPECT_FALSE(write_if(stale, "stale"));
  EXPECT_TRUE(write_if(guard_txn(next), "next"));
}

TEST_F(guarded, a_question_and_a_renewal_change_nothing) {
  tyer::mutex brief{one, name, {.ttl = 2s}};
  auto h = brief.acquire();
  const auto guard = guard_txn(h);
  EXPECT_EQ(two.ask(name, "please"), 1u);
  const auto until = h.valid_until(), end = tyer::lease_clock::now() + patience;
  while (h.valid_until() < until + 2s && tyer::lease_clock::now() < end) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(h.valid());
  EXPECT_EQ(guard_txn(h), guard);
  EXPECT_TRUE(write_if(guard, "renewed"));
}

TEST(guard, of_no_hold_of_etcd_is_refused) {
  const auto code_of = [](const tyer::hold& h) {
    try {
      static_cast<void>(guard_txn(h));
    } catch (const tyer::error& e) {
      return e.code();
    }
    return std::error_code{};
  };
  EXPECT_EQ(code_of({}), tyer::errc::not_held);
  const tyer::client memory{"memory://"};
  EXPECT_EQ(code_of(tyer::mutex{memory, "order"}.acquire()), tyer::errc::unsupported);
}

}  // namespace
