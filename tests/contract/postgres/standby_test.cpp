// A commit waits for a standby that does not come, and somebody cancels the wait: the server warns, and answers as if all were well.
#include "contract/postgres/raw.hpp"
#include "core/uri.hpp"
#include "engines/postgres/config.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/postgres/wire.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

namespace tyer::postgres {

using namespace std::chrono_literals;

namespace {

struct somebody final : sql::wire::user {
  void on_open() override { is_open = true; }
  void on_answers(std::uint64_t, answers a) override { said = std::move(a); }
  void on_notice(std::string) override {}
  void on_broken(sql::failure f) override { broken = f.words; }

  bool is_open = false;
  std::optional<answers> said;
  std::string broken;
};

struct synchronous_standby : ::testing::Test {
  synchronous_standby() {
    admin.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    admin.run("SELECT pg_reload_conf()");
  }
  ~synchronous_standby() override {
    admin.run("ALTER SYSTEM RESET synchronous_standby_names");
    admin.run("SELECT pg_reload_conf()");
  }
  template <class F>
  bool until(F holds) {
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
      if (holds()) return true;
      for (auto& d : box->take(std::chrono::steady_clock::now() + 10ms)) d(nullptr);
    }
    return holds();
  }

  raw admin;
  std::shared_ptr<poll_box> box = std::make_shared<poll_box>();
  somebody one;
};

// What is not told to the client is not heard by it.
TEST_F(synchronous_standby, a_role_that_is_not_warned_was_not_told_that_the_wait_was_cancelled) {
  admin.run("SET synchronous_commit = local");
  admin.run(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET client_min_messages = error', current_database()); END $$");
  auto address = core::parse_uri(std::getenv("TYER_URI")).value;
  auto c = read(address);
  wire w{c.connect, box};
  w.open(one);
  ASSERT_TRUE(until([&] { return one.is_open; })) << one.broken;
  admin.run("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET client_min_messages', current_database()); END $$");
  w.send(1, {{statement::bounds, {std::string{"500"}, std::string{"20000"}}}});
  ASSERT_TRUE(until([&] { return one.said.has_value(); })) << one.broken;
  one.said.reset();
  w.send(2, {{"CREATE TABLE IF NOT EXISTS standby_test2 (n bigint)"}});
  const auto cancelled = [&] {
    return !admin.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").empty();
  };
  ASSERT_TRUE(until(cancelled));
  ASSERT_TRUE(until([&] { return one.said.has_value(); })) << one.broken;
  EXPECT_TRUE(one.said->at(0).failed);
  EXPECT_EQ(one.said->at(0).code, "08007");
}

TEST_F(synchronous_standby, a_commit_whose_wait_for_it_was_cancelled_was_taken_for_one_that_stands) {
  auto address = core::parse_uri(std::getenv("TYER_URI")).value;
  auto c = read(address);
  ASSERT_FALSE(c.error);
  wire w{c.connect, box};
  w.open(one);
  ASSERT_TRUE(until([&] { return one.is_open; })) << one.broken;
  w.send(1, {{"CREATE TABLE IF NOT EXISTS standby_test (n bigint)"}});
  const auto cancelled = [&] {
    return !admin.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").empty();
  };
  ASSERT_TRUE(until(cancelled));
  ASSERT_TRUE(until([&] { return one.said.has_value(); })) << one.broken;
  ASSERT_EQ(one.said->size(), 1u);
  EXPECT_TRUE(one.said->at(0).failed);
  EXPECT_EQ(one.said->at(0).code, "08007");
}

}  // namespace
}  // namespace tyer::postgres
