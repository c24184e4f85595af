// Who is logged in stays so, whatever the server has forgotten.
#include "contract/security/target.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace security {
namespace {

std::string options() { return "--user '" + user + "' --password '" + password + "'"; }

std::string uri_of(const target& servers) {
  const auto of_sentinels = servers.sentinel_login(user, password);
  return servers.uri(target::login(user, password), of_sentinels.empty() ? "" : of_sentinels.substr(1));
}

TEST(login, servers_that_have_been_started_anew_are_logged_in_to_again) {
  target servers{options()};
  talk t{uri_of(servers)};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  servers.kill();
  ASSERT_TRUE(t.says(said_of_those_away())) << t.said();
  servers.restart();
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

// The table of docs/guide/mutex.md. No limit is waited for: all of them are far longer than a busy machine takes.
TEST(login, one_that_is_refused_is_told_at_once_by_every_call) {
  using namespace std::chrono_literals;
  target servers{options()};
  const auto of_sentinels = servers.sentinel_login(user, password);
  const auto uri = servers.uri(target::login(user, "hunter2wrong"), of_sentinels.empty() ? "" : of_sentinels.substr(1));
  tyer::client c{uri, {.request_timeout = 60s, .unavailable_after = 10min}};
  tyer::mutex m{c, "x"};
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"acquire", [&] { static_cast<void>(m.acquire()); }},
      {"try_acquire", [&] { static_cast<void>(m.try_acquire()); }},
      {"try_acquire_for", [&] { static_cast<void>(m.try_acquire_for(10min)); }},
      {"lock", [&] { m.lock(); }},
      {"try_lock", [&] { static_cast<void>(m.try_lock()); }},
      {"try_lock_for", [&] { static_cast<void>(m.try_lock_for(10min)); }}};
  for (const auto& [name, call] : calls) {
    const auto began = std::chrono::steady_clock::now();
    try {
      call();
      ADD_FAILURE() << name << " said nothing";
    } catch (const tyer::error& e) {
      EXPECT_EQ(e.code(), tyer::errc::refused) << name << ": " << e.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, 30s) << name;
  }
}

// Every change of users or roles makes all tokens of etcd too old.
TEST(login, a_change_of_users_makes_etcds_tokens_old_and_nobody_notices) {
  if (!asked_of_etcd()) GTEST_SKIP() << "only etcd has tokens that grow old";
  target servers{options()};
  talk t{uri_of(servers)};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  for (int i = 0; i < 3; ++i) {
    const auto line = "etcdctl --endpoints '" + servers.hosts() + "' --user 'root:" + password + "' role add r" +
                      std::to_string(i) + " >/dev/null";
    ASSERT_EQ(std::system(line.c_str()), 0);
    EXPECT_TRUE(t.locks()) << t.said();
  }
}

// It was: etcd says so with a number that nobody had asked for, and an observer was told nothing for ever.
TEST(login, a_role_that_may_not_read_what_it_watches_is_told_so) {
  if (!asked_of_etcd()) GTEST_SKIP() << "others say so to whoever asks";
  target servers{options()};
  const auto as_root = [&](const std::string& words) {
    const auto line =
        "etcdctl --endpoints '" + servers.hosts() + "' --user 'root:" + password + "' " + words + " >/dev/null";
    ASSERT_EQ(std::system(line.c_str()), 0) << words;
  };
  as_root("role add some");
  as_root("role grant-permission some readwrite --prefix=true 'tyer:{secret'");
  as_root("role grant-permission some read 'tyer:{'");  // whether it is there
  as_root("user add somebody:hunter2");
  as_root("user grant-role somebody some");
  talk t{servers.uri(target::login("somebody", "hunter2"), "")};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  t.observes("secret/other");
  EXPECT_TRUE(t.locks()) << t.said();
  EXPECT_EQ(t.said().find("permission denied"), std::string::npos) << t.said();
  t.observes("elsewhere");
  EXPECT_TRUE(t.says("permission denied")) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

// It did: a server is asked for many holds at once, and refuses all of it for the one that the user has no right to. So did a
// redlock of which most nodes refuse it and the others do not, and that said of none of them what it knew.
TEST(login, one_name_that_is_forbidden_while_it_is_held_took_all_other_holds_with_it) {
  using namespace std::chrono_literals;
  target servers{options()};
  if (servers.scheme() != "redis" && servers.scheme() != "redlock") GTEST_SKIP() << "another kind of right";
  std::vector<std::string> ports;
  std::istringstream hosts{servers.hosts()};
  for (std::string host; std::getline(hosts, host, ',');) ports.push_back(host.substr(host.rfind(':') + 1));
  const auto set_user = [&](std::size_t at, const std::string& words) {
    const auto line = "redis-cli -p " + ports[at] + " --no-auth-warning --user '" + user + "' --pass '" + password +
                      "' ACL SETUSER somebody " + words + " | grep -q OK";
    ASSERT_EQ(std::system(line.c_str()), 0) << words;
  };
  for (std::size_t i = 0; i < ports.size(); ++i) set_user(i, "on '>hunter2' '~*' '&*' '+@all'");
  std::promise<std::string> told;
  const auto tell = [&](const tyer::event& e) {
    if (e.kind == tyer::event_kind::lost) told.set_value(e.text);
  };
  tyer::client c{servers.uri(target::login("somebody", "hunter2"), ""), {.on_event = tell}};
  tyer::mutex first{c, "allowed/1", {.ttl = 6s}}, forbidden{c, "other", {.ttl = 6s}}, last{c, "allowed/2", {.ttl = 6s}};
  auto a = first.acquire(), lost = forbidden.acquire(), b = last.acquire();
  for (std::size_t i = 0; i <= ports.size() / 2; ++i) set_user(i, "resetkeys '~tyer:{allowed*'");
  while (lost.valid()) std::this_thread::sleep_for(10ms);
  const auto words = told.get_future().get();
  EXPECT_NE(words.find("NOPERM"), words.npos) << words;
  // Whatever was renewed with it for the last time ends when it does.
  for (const auto* kept : {&a, &b}) EXPECT_GT(kept->valid_until(), lost.valid_until() + 1s);
}

}  // namespace
}  // namespace security
