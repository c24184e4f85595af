// Users and their tokens: given out, forgotten, and not asked for any more.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

struct etcd_login : etcd_scripted {
  static void as_user(tyer::etcd::config& c) {
    c.user = "somebody";
    c.password = "secret";
  }
  const std::string& asked_for = fake.password = "secret";  // from now on: those that the base has made know none
  one_client first{time, fake, all, as_user}, second{time, fake, all, as_user};
};

// It was: the stream went on with the old token. etcd refuses a new watch on it with the number -1, which nobody had asked for.
TEST_F(etcd_login, that_expired_left_every_new_watch_dead_in_silence) {
  ASSERT_NE(granted_in(first.acquire(first.next_id())), nullptr) << "so the stream has been used";
  const auto holder = second.next_id(), waiter = first.next_id();
  const auto take = [&](one_client& c, const id& who) {
    auto r = c.wants(who, true);
    r.what.name = "another";
    return c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); });
  };
  ASSERT_NE(granted_in(take(second, holder)), nullptr);
  fake.expire_tokens();
  ASSERT_TRUE(std::holds_alternative<seam::queued>(std::get<answer>(take(first, waiter).result)));
  first.run_for(100ms);
  second.call<fate>([&](auto reply) { second.raw().release({holder, "another"}, true, std::move(reply)); });
  EXPECT_TRUE(first.run_until([&] { return !first.woken.empty(); }, 100ms)) << "nobody told it";
  EXPECT_EQ(first.ups(), 1) << "for that no server is left";
}

// It was: etcd, from 3.4.42, 3.5.28 and 3.6.0 on, says its version only to who has logged in, and was asked without a token.
TEST_F(etcd_login, the_version_of_the_server_was_not_asked_for_with_it) { EXPECT_EQ(first.version, "3.5.16"); }

// It was: etcd from 3.5.28 and 3.6.0 on tells its status only to some users, so nobody saw that a server of the URI was of another
// cluster.
TEST_F(etcd_login, servers_of_two_clusters_that_tell_nobody_their_status_were_taken_for_one) {
  fake.versions = {"", "", ""};
  fake.clusters = {1, 2, 1};
  one_client two{time, fake, all,
                 [](tyer::etcd::config& c) {
                   as_user(c);
                   c.servers.push_back({c.servers.front().host, 1});
                 },
                 2s};
  two.run_for(1s);
  const auto o = two.acquire(two.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::refused);
  EXPECT_NE(failure_in(o)->words.find("different clusters"), std::string::npos) << failure_in(o)->words;
}

// Whoever asked at the same time does not throw away what another was given meanwhile.
TEST_F(etcd_login, that_expired_is_asked_for_once_and_not_by_each) {
  ASSERT_NE(granted_in(first.acquire(first.next_id())), nullptr);
  fake.expire_tokens();
  fake.logins = 0;
  int answers = 0;
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) {
    auto r = first.wants(first.next_id());
    r.what.name = name;
    first.raw().acquire(r, [&](outcome<answer>&& o) { answers += granted_in(o) != nullptr ? 1 : 0; });
  }
  ASSERT_TRUE(first.run_until([&] { return answers == 5; }));
  EXPECT_EQ(fake.logins, 1u);
}

// It was: whoever was to take it away was refused, and logged in only when something else was asked for.
TEST_F(etcd_login, that_expired_left_a_hold_that_nobody_kept_in_the_way) {
  const auto who = first.next_id();
  ASSERT_NE(granted_in(first.acquire(who)), nullptr);
  first.run_for(500ms);  // it is watched
  fake.expire_tokens();
  for (const auto end = time.now() + ttl + 2s; time.now() < end; first.run_for(500ms)) data.renew_leases();
  EXPECT_FALSE(is_written(who));
}

// It was: every hold was lost, and the client stayed out until users were asked for again.
TEST_F(etcd_login, that_is_not_asked_for_any_more_kept_the_client_out) {
  const auto who = first.next_id();
  ASSERT_NE(granted_in(first.acquire(who)), nullptr);
  fake.password.clear();  // auth disable
  fake.set_up(0, false);
  first.run_for(50ms);
  fake.set_up(0, true);
  ASSERT_TRUE(first.run_until([&] { return first.ups() == 2; }, 2s));
  const auto o = first.keep(who);
  EXPECT_EQ(std::get<seam::kept>(o.result).fates.front(), fate::holding);
  fake.password = "secret";  // auth enable
  EXPECT_EQ(std::get<fate>(first.release(who).result), fate::holding);
}

// It was: unavailable, "no etcd server can be reached just now".
TEST_F(etcd_login, with_a_wrong_password_was_told_as_an_outage) {
  one_client wrong{time, fake, all,
                   [](tyer::etcd::config& c) {
                     as_user(c);
                     c.password = "guessed";
                   },
                   1s};
  const auto o = wrong.acquire(wrong.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::refused);
  EXPECT_NE(failure_in(o)->words.find("invalid user ID or password"), std::string::npos) << failure_in(o)->words;
  EXPECT_EQ(wrong.downs.size(), 1u) << "said once";
}

// It was ten times a second where the URI names several servers, and each time costs a server a tenth of a second of its
// processor: the clients that did not know yet of a password that was changed kept it busy.
TEST_F(etcd_login, with_a_wrong_password_was_tried_ten_times_a_second_without_end) {
  one_client wrong{time, fake, all,
                   [](tyer::etcd::config& c) {
                     as_user(c);
                     c.password = "guessed";
                     c.servers.push_back({c.servers.front().host, 1});
                   },
                   1s};
  fake.logins = 0;
  wrong.run_for(60s);
  EXPECT_LE(fake.logins, 40u);
  const auto tried = fake.logins;
  wrong.run_for(60s);
  EXPECT_LE(fake.logins - tried, 14u);
  fake.password = "guessed";
  EXPECT_TRUE(wrong.run_until([&] { return wrong.ups() > 0; }, 6s, 5ms));
}

// It was: what had waited for a login when its server was left went to whoever was to be tried next, and was waited for until its
// deadline. Nor is a server left that was found since, for what another did not answer.
struct etcd_login_in_vain : etcd_login {
  static void at_two(tyer::etcd::config& c) {
    as_user(c);
    c.servers.push_back({c.servers.front().host, 1});
  }
  one_client two{time, fake, all, at_two};
  duration took{};

  // A renewal finds its token forgotten, and while it logs in, its server breaks off and is silent. The other is there soon.
  outcome<seam::kept> keep_while_the_server_is_left(const id& who) {
    fake.expire_tokens();
    bool silent = false;
    fake.decide = [this, &silent](const exchange& e) {
      if (e.client != 4) return journey{.there = 500us, .back = 500us};
      if (e.server == 1) return journey{.there = 30ms, .back = 30ms};
      if (e.method == "Authenticate" && !silent) {
        time.in(20ms, [&] {
          silent = true;
          fake.cut(4);
        });
        return journey{.there = 500us, .back = 50ms};
      }
      return journey{.there = 500us, .back = 500us, .request_lost = silent};
    };
    const seam::target t{who, "order"};
    const auto began = time.now();
    auto o =
        two.call<seam::kept>([&](auto reply) { two.raw().keep({&t, 1}, fate::holding, 1200ms, std::move(reply)); });
    took = time.now() - began;
    two.run_for(2s);
    return o;
  }
};

TEST_F(etcd_login_in_vain, sent_a_renewal_to_nobody_and_waited_for_it) {
  const auto who = two.next_id();
  ASSERT_NE(granted_in(two.acquire(who)), nullptr);
  two.run_for(ttl / 3);
  const auto o = keep_while_the_server_is_left(who);
  const auto* why_not = std::get_if<seam::failure>(&o.result);
  ASSERT_NE(why_not, nullptr);
  EXPECT_EQ(why_not->kind, seam::why::not_sent) << why_not->words;
  EXPECT_LT(took, 100ms);
  EXPECT_EQ(two.downs.size(), 1u) << two.downs.back();
  EXPECT_EQ(two.ups(), 2);
  EXPECT_EQ(std::get<seam::kept>(two.keep(who).result).fates.front(), fate::holding);
}

// --- who may not read what it would watch ---

struct etcd_permission : etcd_scripted {
  bool says(const one_client& c, const std::string& words) const {
    return std::ranges::any_of(c.said, [&](const auto& line) { return line.find(words) != line.npos; });
  }
  bool contains(const std::vector<id>& all, const id& who) const { return std::ranges::find(all, who) != all.end(); }
};

// It was: etcd says so of a watch with the number -1, which nobody had asked for, and that was dropped.
TEST_F(etcd_permission, to_watch_was_denied_to_a_waiter_in_silence) {
  const auto holder = b.next_id(), waiter = a.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  fake.denies = [](const std::string&) { return true; };
  ASSERT_TRUE(std::holds_alternative<seam::queued>(std::get<answer>(a.acquire(waiter, true).result)));
  EXPECT_TRUE(a.run_until([&] { return contains(a.woken, waiter); }, 1s)) << "it asks again, and is told";
  EXPECT_TRUE(says(a, "permission denied"));
  const auto wait_for = [&](duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(500ms)) {
      a.keep(waiter, fate::waiting);
      b.keep(holder);
    }
  };
  sent.clear();
  wait_for(5s);
  EXPECT_EQ(sent["Watch"], 2)
      << "of the holder, and of who is before the waiter; what was refused is not tried at once";
  a.woken.clear();
  fake.denies = nullptr;
  wait_for(6s);
  b.release(holder);
  EXPECT_TRUE(a.run_until([&] { return contains(a.woken, waiter); }, 100ms)) << "it was not tried again";
}

TEST_F(etcd_permission, to_watch_was_denied_to_a_holder_in_silence) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  fake.denies = [](const std::string&) { return true; };
  EXPECT_TRUE(a.run_until([&] { return contains(a.suspected, who); }, 1s)) << "it is kept, and told";
  EXPECT_TRUE(says(a, "permission denied"));
}

// Only one of several is refused: the others go on.
TEST_F(etcd_permission, to_watch_was_denied_of_one_name_and_that_name_is_told) {
  const auto one = a.next_id(), other = a.next_id();
  auto r = a.wants(other);
  r.what.name = "another";
  fake.denies = [](const std::string& key) { return key.find("another") != key.npos; };
  ASSERT_NE(granted_in(a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); })), nullptr);
  ASSERT_NE(granted_in(a.acquire(one)), nullptr);
  EXPECT_TRUE(a.run_until([&] { return contains(a.suspected, other); }, 1s));
  EXPECT_FALSE(contains(a.suspected, one));
}

}  // namespace
}  // namespace tyer::sim::etcd
