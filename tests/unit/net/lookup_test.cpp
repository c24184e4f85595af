#include "engines/net/lookup.hpp"

#include "sanitized.hpp"
#include "unit/names/name_server.hpp"
#include "unit/names/threads.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tyer::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
namespace asio = boost::asio;

template <class F>
bool soon(F holds) {
  for (const auto end = clock::now() + 20s; clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return holds();
}

struct said {
  boost::system::error_code error;
  std::vector<std::string> all;
};

// Somebody with a loop of his own.
struct somebody {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  net::lookup lookup;
  std::optional<said> answer;

  void ask(const std::string& host) {
    lookup.start(context, host, 6379, [this](const boost::system::error_code& e, net::lookup::addresses found) {
      answer.emplace().error = e;
      for (const auto& one : found) answer->all.push_back(one.address().to_string() + ' ' + std::to_string(one.port()));
    });
  }
  said wait() {
    for (const auto end = clock::now() + 20s; !answer && clock::now() < end;) context.run_one_for(10ms);
    return answer.value_or(said{});
  }
};

class lookup : public ::testing::Test {
 protected:
  void SetUp() override { name_server::answer(true); }
  void TearDown() override {
    name_server::answer(true);
    EXPECT_TRUE(soon([this] { return threads() <= alone; }));
  }
  const int alone = threads_at_least();
  // Of this test alone: what nobody has heard is kept for the next who asks.
  const std::string host = std::string{::testing::UnitTest::GetInstance()->current_test_info()->name()} + ".example";
  somebody one;
};

using found = std::vector<std::string>;

TEST_F(lookup, an_address_needs_neither_a_thread_nor_a_name_server) {
  name_server::answer(false);
  for (const auto& [text, address] :
       {std::pair{"10.1.2.3", "10.1.2.3 6379"}, {"::1", "::1 6379"}, {"[::1]", "::1 6379"}}) {
    one.answer.reset();
    one.ask(text);
    EXPECT_FALSE(one.answer);  // not inside the call
    one.context.poll();
    ASSERT_TRUE(one.answer) << text;
    EXPECT_FALSE(one.answer->error);
    EXPECT_EQ(one.answer->all, found{address});
  }
  EXPECT_EQ(threads(), alone);
  EXPECT_EQ(name_server::asked(), 0);
}

TEST_F(lookup, a_name_has_all_its_addresses_in_order) {
  name_server::know(host, {"::1", "127.0.0.1", "127.0.0.2"});
  one.ask(host);
  const auto s = one.wait();
  EXPECT_FALSE(s.error);
  EXPECT_EQ(s.all, (found{"::1 6379", "127.0.0.1 6379", "127.0.0.2 6379"}));
}

TEST_F(lookup, a_name_that_is_not_known_is_an_error) {
  one.ask("nobody.example");
  const auto s = one.wait();
  EXPECT_EQ(s.error, asio::error::host_not_found_try_again);
  EXPECT_TRUE(s.all.empty());
}

TEST_F(lookup, who_has_forgotten_it_is_not_told) {
  name_server::answer(false);
  name_server::know(host, {"127.0.0.1"});
  const auto owned = std::make_shared<int>();
  one.lookup.start(one.context, host, 1, [owned](const auto&, const auto&) { FAIL(); });
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  one.lookup.forget();
  EXPECT_EQ(owned.use_count(), 1);  // what it was to be told with is gone at once, and here
  name_server::answer(true);
  ASSERT_TRUE(soon([this] { return threads() <= alone; }));
  one.context.poll();
}

TEST_F(lookup, who_forgets_it_when_the_answer_has_come_is_not_told) {
  name_server::know(host, {"127.0.0.1"});
  one.ask(host);
  ASSERT_TRUE(soon([this] { return name_server::asked() == 1 && threads() <= alone; }));
  one.lookup.forget();
  one.context.poll();
  EXPECT_FALSE(one.answer);
}

TEST_F(lookup, whoever_asks_may_go_before_the_answer_with_all_he_has) {
  name_server::answer(false);
  auto gone = std::make_unique<somebody>();
  gone->ask(host);
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  const auto began = clock::now();
  gone.reset();
  EXPECT_LT(clock::now() - began, 10s);
}

TEST_F(lookup, a_name_is_looked_up_once_for_all_who_ask_meanwhile) {
  name_server::answer(false);
  name_server::know(host, {"127.0.0.1"});
  somebody other;
  one.ask(host);
  other.ask(host);
  for (int i = 0; i < 50; ++i) one.ask(host);  // tries again
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  EXPECT_LE(threads(), alone + 1);
  name_server::know(host, {"127.0.0.7"});
  name_server::answer(true);
  EXPECT_EQ(one.wait().all, found{"127.0.0.7 6379"});
  EXPECT_EQ(other.wait().all, found{"127.0.0.7 6379"});
  EXPECT_EQ(name_server::asked(), 0);  // since
  one.answer.reset();
  one.ask(host);  // what was found once is not kept
  EXPECT_EQ(one.wait().all, found{"127.0.0.7 6379"});
  EXPECT_EQ(name_server::asked(), 1);
}

// It was: whoever gave up a moment before the answer came, and asked again a moment behind it, began anew each time.
TEST_F(lookup, a_name_server_slower_than_who_asks_was_never_heard) {
  name_server::answer(false);
  name_server::know(host, {"127.0.0.1"});
  one.ask(host);
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  one.lookup.forget();
  name_server::answer(true);
  ASSERT_TRUE(soon([this] { return threads() <= alone; }));
  name_server::answer(false);
  somebody other;
  one.ask(host);
  other.ask(host);
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
  EXPECT_EQ(other.wait().all, found{"127.0.0.1 6379"});
  EXPECT_EQ(name_server::asked(), 0);
  name_server::answer(true);
  name_server::know(host, {"127.0.0.7"});
  one.answer.reset();
  one.ask(host);  // but what was heard is not kept
  EXPECT_EQ(one.wait().all, found{"127.0.0.7 6379"});
}

TEST_F(lookup, an_answer_that_came_when_its_asker_gave_up_is_heard_by_the_next) {
  name_server::know(host, {"127.0.0.1"});
  one.ask(host);
  ASSERT_TRUE(soon([this] { return name_server::asked() == 1 && threads() <= alone; }));
  one.lookup.forget();  // it was posted, and is not told
  name_server::answer(false);
  one.ask(host);
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
  EXPECT_EQ(name_server::asked(), 0);
}

TEST_F(lookup, a_failure_that_nobody_has_heard_is_not_kept) {
  one.ask("later.example");
  ASSERT_TRUE(soon([this] { return name_server::asked() == 1 && threads() <= alone; }));
  one.lookup.forget();
  name_server::know("later.example", {"127.0.0.1"});
  one.ask("later.example");
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
}

TEST_F(lookup, one_name_does_not_wait_for_another) {
  name_server::answer(false);
  name_server::know("b.example", {"127.0.0.2"});
  somebody other;
  one.ask("a.example");
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  other.ask("b.example");
  ASSERT_TRUE(soon([] { return name_server::asked() == 2; }));
}

TEST_F(lookup, without_a_thread_to_be_had_it_fails_alone) {
  name_server::know(host, {"127.0.0.1"});
  {
    const no_thread now;
    one.ask(host);
  }
  EXPECT_EQ(one.wait().error, std::errc::resource_unavailable_try_again) << one.wait().error.message();
  one.answer.reset();
  one.ask(host);
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
}

TEST_F(lookup, may_be_started_anew_by_whoever_is_told) {
  name_server::know(host, {"127.0.0.1"});
  one.lookup.start(one.context, "nobody.example", 1, [&](const auto& e, const auto&) {
    EXPECT_TRUE(e);
    one.ask(host);
  });
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
}

// The thread that looks it up is its parent's.
TEST_F(lookup, a_forked_child_does_not_wait_for_the_lookup_of_its_parent) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer allows no thread in a child of a process with threads";
  name_server::know(host, {"127.0.0.1"});
  name_server::answer(false);
  one.ask(host);
  ASSERT_TRUE(soon([] { return name_server::asked() == 1; }));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    name_server::answer(true);
    somebody in_the_child;
    in_the_child.ask(host);
    ::_exit(in_the_child.wait().all == found{"127.0.0.1 6379"} ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  name_server::answer(true);
  EXPECT_EQ(one.wait().all, found{"127.0.0.1 6379"});
}

}  // namespace
}  // namespace tyer::test
