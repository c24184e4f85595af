// What happens to a server, or was set at it, that clients have no part in.
#include "contract/engine/harness.hpp"
#include "contract/postgres/raw.hpp"
#include "engines/postgres/sessions.hpp"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace tyer::postgres {
namespace {

using namespace std::chrono_literals;
using contract::event;

struct beside_sessions : ::testing::Test {
  beside_sessions() : was_(std::getenv("TYER_URI")) { ::setenv("TYER_URI", (was_ + "&lock=session").c_str(), 1); }
  ~beside_sessions() override { ::setenv("TYER_URI", was_.c_str(), 1); }

  const std::string was_;
};

// As the kernel does when memory runs out. The server says that it was started when it was.
void kill_some_process_of_the_server() {
  raw victim;
  ASSERT_EQ(::kill(std::stoi(victim.run("SELECT pg_backend_pid()")[0][0]), SIGKILL), 0);
}

TEST_F(beside_sessions, a_lock_that_went_with_a_crash_of_another_process_was_given_while_its_holder_believed_in_it) {
  contract::client cut_off{"crash:"}, other{"crash:"};
  auto w = cut_off.wants("order");
  w.ttl = 10s;
  const auto before = cut_off.now();
  cut_off.lock(w);
  kill_some_process_of_the_server();
  other.pump_until([&] { return other.count(event::kind::up) > 1; }, "up() once more");
  EXPECT_GE(other.poll(other.wants("order")), before + w.ttl);
}

// Of what is cancelled nobody knows whether it was carried out.
TEST_F(beside_sessions, a_lock_whose_unlock_was_cancelled_stayed_with_a_session_that_did_not_hold_it) {
  contract::client c{"cancelled:"};
  {
    const std::jthread canceller{[](const std::stop_token& stop) {
      raw admin;
      while (!stop.stop_requested())
        admin.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'tyer'");
    }};
    for (const auto end = c.now() + 5s; c.now() < end;) {
      const auto w = c.wants("order");
      c.acquire(w);
      bool released = false;
      c.raw().release(w.target(), true, [&](auto&&) { released = true; });
      c.pump_until([&] { return released; }, "an answer");
    }
  }
  raw admin;
  const auto locked = [&] {
    return admin.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted")[0][0] != "0";
  };
  for (const auto end = c.now() + 10s; locked() && c.now() < end;) c.pump_until(c.now() + 100ms);
  EXPECT_FALSE(locked());
}

class everywhere {
 public:
  everywhere(std::string setting, const std::string& value) : what_(std::move(setting)) {
    say("SET " + what_ + " = " + value);
  }
  ~everywhere() { say("RESET " + what_); }
  everywhere(const everywhere&) = delete;

 private:
  void say(const std::string& how) {
    raw{}.run(("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I " + how + "', current_database()); END $$").c_str());
  }
  const std::string what_;
};

TEST_F(beside_sessions, a_database_without_standard_strings_could_not_be_locked_in) {
  const everywhere off{"standard_conforming_strings", "off"};
  contract::client c{"strings:"};
  const auto w = c.wants("order");
  c.lock(w);
  EXPECT_EQ(c.of_name("order").size(), 1u);
  EXPECT_EQ(c.release(w), contract::fate::holding);
}

// By the clock nobody has held it since the server was started: nobody was given it until that time had come again.
TEST(session_clock, that_was_set_back_to_before_the_start_kept_every_name_from_everybody) {
  raw session;
  const sql::session_facts facts{.number = 0, .started = session.now() + std::chrono::microseconds{10min}.count()};
  const sql::wanted what{
      .name = "clock:order", .who = core::id::from(std::string(16, 'w')), .ttl = 1s, .above = 1, .owner = "o"};
  for (int i = 0; i < 2; ++i) {
    const auto take = own_sessions.take(what, facts);
    EXPECT_NE(session.run(take.at(0).text, take.at(0).values).at(0).at(1), "") << "no token";
    EXPECT_EQ(session.run(own_sessions.give_back, {what.name}).at(0).at(0), "t");
  }
  session.run("DELETE FROM tyer_lock WHERE name = 'clock:order'");
}

}  // namespace
}  // namespace tyer::postgres
