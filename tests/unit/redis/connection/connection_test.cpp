// The engine when the server, or the way to it, does not behave.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;

TEST(redis_connection, comes_back_after_client_kill) {
  raw_redis raw{server_uri()};
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, "killed")), nullptr);
  const int ups = a.ups, downs = a.downs;
  raw.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  raw.ask({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
  ASSERT_TRUE(a.until([&] { return a.ups == ups + 1; }));
  EXPECT_EQ(a.downs, downs + 1);
  EXPECT_EQ(std::get<0>(a.keep(who, "killed", fate::holding).result).fates, std::vector{fate::holding});
  const auto inbox = "tyer:inbox:" + tyer::core::to_hex(who.view().substr(0, 8));
  EXPECT_EQ(raw.ask({"PUBLISH", inbox, "w" + std::string{who.view()}}).number, 1) << "subscribed again";
  EXPECT_TRUE(a.until([&] { return !a.wakes.empty(); }));
}

TEST(redis_connection, a_restart_is_another_server) {
  own_server server;
  engine_client a{server.uri()};
  ASSERT_TRUE(a.ready());
  const auto first = a.facts.id;
  server.kill();
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_FALSE(a.absence.words.empty());
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::not_sent);
  server.restart();
  ASSERT_TRUE(a.until([&] { return a.ups == 2; }));
  EXPECT_NE(a.facts.id, first);
  EXPECT_EQ(a.downs, 1) << "once per outage";
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
}

TEST(redis_connection, what_was_on_its_way_when_the_server_died_is_unknown) {
  own_server server;
  engine_client a{server.uri(), 60s};
  ASSERT_TRUE(a.ready());
  server.pause();
  auto b = std::make_shared<engine_client::box<tyer::engine::answer>>();
  a.value->acquire(engine_client::request(a.ids.next(), "n"), a.into(b));
  a.value->run(a.clock.now() + 20ms);
  server.kill();
  ASSERT_TRUE(a.until([&] { return b->got.has_value(); }));
  EXPECT_EQ(why_not(*b->got), why::unknown);
}

TEST(redis_connection, nobody_there) {
  own_server server;
  server.kill();
  engine_client a{server.uri()};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  const auto& words = a.absence.words;  // what it had not accepted when it died is reset by the kernel, a moment later
  EXPECT_TRUE(words.find("cannot connect") != std::string::npos ||
              words.find("before the server had said a word") != std::string::npos)
      << words;
  EXPECT_EQ(a.absence.kind, why::not_sent);
  server.restart();
  EXPECT_TRUE(a.ready());
}

// Went wrong: the client logs what it is told, and the connection had logged the same before.
TEST(redis_connection, the_first_warning_of_an_outage_was_logged_twice) {
  engine_client a{"redis://127.0.0.1:1"};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_FALSE(a.absence.words.empty());
  EXPECT_EQ(a.warned, "");
}

TEST(redis_connection, a_server_that_hangs) {
  own_server server;
  engine_client a{server.uri(), 300ms};
  ASSERT_TRUE(a.ready());
  server.pause();
  const auto start = a.clock.now();
  const auto got = a.acquire(a.ids.next(), "n");
  EXPECT_EQ(why_not(got), why::unknown);
  EXPECT_GE(a.clock.now() - start, 300ms);
  EXPECT_LT(a.clock.now() - start, 5s);
  ASSERT_TRUE(a.until([&] { return a.downs == 1; })) << "nothing was heard: the connection is given up";
  server.resume();
  ASSERT_TRUE(a.until([&] { return a.ups == 2; }));
  EXPECT_NE(granted(a.acquire(a.ids.next(), "other")), nullptr);
}

TEST(redis_connection, an_idle_connection_notices_a_hanging_server) {
  own_server server;
  engine_client a{server.uri(), 300ms};
  ASSERT_TRUE(a.ready());
  server.pause();
  EXPECT_TRUE(a.until([&] { return a.downs == 1; }));
  server.resume();
  EXPECT_TRUE(a.until([&] { return a.ups == 2; }));
}

TEST(redis_connection, password) {
  own_server server{"--password s3cr3t"};
  engine_client good{server.uri()};
  EXPECT_TRUE(good.ready());
  auto wrong_uri = server.uri();
  wrong_uri.replace(wrong_uri.find("s3cr3t"), 6, "wr0ng1");
  engine_client wrong{wrong_uri};
  ASSERT_TRUE(wrong.until([&] { return wrong.downs == 1; }));
  EXPECT_EQ(wrong.absence.kind, why::refused);
  EXPECT_NE(wrong.absence.words.find("WRONGPASS"), std::string::npos) << wrong.absence.words;
  EXPECT_EQ(wrong.absence.words.find("wr0ng1"), std::string::npos);
  EXPECT_EQ(wrong.logged.find("wr0ng1"), std::string::npos);
  EXPECT_EQ(why_not(wrong.acquire(wrong.ids.next(), "n")), why::refused);
  auto none_uri = server.uri();
  none_uri.replace(none_uri.find(":s3cr3t@"), 8, "");
  engine_client none{none_uri};
  ASSERT_TRUE(none.until([&] { return none.downs == 1; }));
  EXPECT_EQ(none.absence.kind, why::refused) << none.absence.words;
  EXPECT_NE(none.absence.words.find("redis://:PASSWORD@HOST"), std::string::npos) << none.absence.words;
}

// It was: a connection that was lost, and nobody was told why it does not come back.
TEST(redis_connection, a_user_that_was_deleted_while_it_held_was_told_as_a_server_that_is_away) {
  own_server server;
  raw_redis raw{server.uri()};
  const auto make = [&] { raw.ask({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "&*"}); };
  make();
  auto uri = server.uri();
  uri.insert(uri.find("://") + 3, "ann:pw@");
  engine_client a{uri};
  ASSERT_TRUE(a.ready());
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, "n")), nullptr);
  for (int outage = 1; outage <= 2; ++outage) {
    raw.ask({"ACL", "DELUSER", "ann"});
    ASSERT_TRUE(a.until([&] { return a.downs == 2 * outage; }));
    EXPECT_EQ(a.absence.kind, why::refused);
    EXPECT_NE(a.absence.words.find("WRONGPASS"), std::string::npos) << a.absence.words;
    EXPECT_FALSE(a.until([&] { return a.downs > 2 * outage; }, 300ms)) << "said once";
    make();
    ASSERT_TRUE(a.until([&] { return a.ups == 1 + outage; }));
  }
  EXPECT_EQ(std::get<0>(a.keep(who, "n", fate::holding).result).fates, std::vector{fate::holding});
}

TEST(redis_connection, user_and_password) {
  own_server server{"--user ann --password s3cr3t"};
  engine_client a{server.uri()};
  ASSERT_TRUE(a.ready());
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
}

// The reply to a refused SUBSCRIBE must not be taken for the reply to another command.
TEST(redis_connection, a_user_without_channels_still_locks) {
  own_server server;
  raw_redis raw{server.uri()};
  raw.ask({"ACL", "SETUSER", "mute", "on", ">pw", "~tyer:*", "+@all", "resetchannels"});
  auto uri = server.uri();
  uri.insert(uri.find("://") + 3, "mute:pw@");
  engine_client a{uri}, b{server.uri()};
  ASSERT_TRUE(a.ready());
  ASSERT_TRUE(b.ready());
  EXPECT_NE(a.logged.find("waiters poll instead"), std::string::npos) << a.logged;
  const auto who = a.ids.next(), other = b.ids.next();
  const auto got = a.acquire(who, "n");
  ASSERT_NE(granted(got), nullptr);
  EXPECT_NE(queued(b.acquire(other, "n")), nullptr);
  EXPECT_EQ(std::get<0>(a.release(who, "n").result), fate::holding) << "though it may not publish the hand-over";
  EXPECT_NE(granted(b.acquire(other, "n")), nullptr);
}

TEST(redis_connection, a_user_without_rights_is_refused_in_words) {
  own_server server;
  raw_redis raw{server.uri()};
  raw.ask({"ACL", "SETUSER", "poor", "on", ">pw", "~other:*", "+@all", "&*"});
  auto uri = server.uri();
  uri.insert(uri.find("://") + 3, "poor:pw@");
  engine_client a{uri};
  ASSERT_TRUE(a.ready());
  const auto got = a.acquire(a.ids.next(), "n");
  EXPECT_EQ(why_not(got), why::refused);
  EXPECT_EQ(a.downs, 0);
}

// Went wrong: told as an outage, since this server says it in other words than before a script.
TEST(redis_connection, a_user_without_a_right_that_only_a_script_needs_was_told_of_an_outage) {
  own_server server;
  raw_redis raw{server.uri()};
  raw.ask({"ACL", "SETUSER", "poor", "on", ">pw", "~*", "+@all", "-zadd", "&*"});
  auto uri = server.uri();
  uri.insert(uri.find("://") + 3, "poor:pw@");
  engine_client a{uri}, other{server.uri()};
  ASSERT_TRUE(a.ready() && other.ready());
  ASSERT_NE(granted(other.acquire(other.ids.next(), "n")), nullptr);
  const auto got = a.acquire(a.ids.next(), "n");
  ASSERT_TRUE(why_not(got));
  EXPECT_EQ(std::get<tyer::engine::failure>(got.result).code, make_error_code(tyer::errc::refused));
  EXPECT_EQ(a.downs, 0);
}

TEST(redis_connection, a_replica_is_not_used) {
  own_server primary;
  const auto port = primary.uri().substr(primary.uri().rfind(':') + 1);
  own_server replica{"--set 'replicaof=127.0.0.1 " + port + "'"};
  engine_client a{replica.uri()};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_EQ(a.ups, 0);
  EXPECT_NE(a.absence.words.find("replica"), std::string::npos) << a.absence.words;
}

TEST(redis_connection, a_primary_that_becomes_a_replica_is_left) {
  own_server other, server;
  const auto port = other.uri().substr(other.uri().rfind(':') + 1);
  engine_client a{server.uri()};
  ASSERT_TRUE(a.ready());
  raw_redis raw{server.uri()};
  raw.ask({"REPLICAOF", "127.0.0.1", port});
  // The server may drop its clients by itself when its role changes.
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::not_sent);
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  raw.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(a.until([&] { return a.ups == 2; }));
}

TEST(redis_connection, out_of_memory_is_not_sent) {
  own_server server;
  raw_redis raw{server.uri()};
  engine_client a{server.uri()};
  ASSERT_TRUE(a.ready());
  raw.ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto got = a.acquire(a.ids.next(), "n");
  EXPECT_EQ(why_not(got), why::not_sent) << std::get<tyer::engine::failure>(got.result).words;
  raw.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
}

// Every descriptor of this process that came up with the engine: closed on exec, and TCP without delay.
TEST(redis_connection, descriptors) {
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  DIR* folder = ::opendir("/proc/self/fd");
  int tcp = 0;
  while (const dirent* e = ::readdir(folder)) {
    const int fd = std::atoi(e->d_name);
    if (fd <= 2 || fd == ::dirfd(folder)) continue;
    int type = 0, no_delay = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0) {
      ++tcp;
      EXPECT_NE(no_delay, 0);
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  ::closedir(folder);
  EXPECT_EQ(tcp, 1);
}

}  // namespace
