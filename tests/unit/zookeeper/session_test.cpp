#include "engines/zookeeper/wire/session.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper::wire {

using namespace std::chrono_literals;
using how = response::how;

struct zookeeper_session : ::testing::Test, session::listener {
  void on_up() override { ++ups; }
  void on_gone() override { ++gones; }
  void on_event(const event& e) override { events.push_back(e); }

  static std::string packet(std::string body) { return writer{}.text(body).take(); }
  static std::string reply(std::int32_t xid, std::int32_t error = ok, std::string_view body = {}) {
    return packet(writer{}.number(xid).big(100).number(error).raw(body).take());
  }
  static std::string greeting(std::int32_t timeout = 10'000, std::int64_t number = 7) {
    return packet(writer{}.number(0).number(timeout).big(number).text(std::string(16, 'p')).flag(false).take());
  }
  bool hears(const std::string& bytes) { return s.received(bytes, now); }
  void arrive() {
    s.connected("host", now);
    s.take_output();
    ASSERT_TRUE(hears(greeting()));
  }
  handler note(std::vector<how>& into) {
    return [&into](const response& r) { into.push_back(r.is); };
  }

  int ups = 0, gones = 0;
  std::vector<event> events;
  time_point now{1h};
  session s{*this, 10s, {}};
};

TEST_F(zookeeper_session, is_up_when_it_was_greeted) {
  std::vector<how> told;
  s.call(op::sync, {}, now, note(told));
  EXPECT_EQ(told, std::vector{how::not_sent});
  arrive();
  EXPECT_EQ(ups, 1);
  EXPECT_EQ(s.number(), 7);
  EXPECT_EQ(s.timeout(), 10s);
}

TEST_F(zookeeper_session, answers_come_in_order_or_the_stream_is_broken) {
  arrive();
  std::vector<how> told;
  s.call(op::sync, path_body("/"), now, note(told));
  s.call(op::sync, path_body("/"), now, note(told));
  EXPECT_TRUE(hears(reply(1)));
  EXPECT_FALSE(hears(reply(3)));
  s.lost();
  EXPECT_EQ(told, (std::vector{how::answered, how::not_sent}));
}

TEST_F(zookeeper_session, what_never_left_was_not_sent_and_what_did_is_unknown) {
  arrive();
  std::vector<how> told;
  s.call(op::sync, path_body("/"), now, note(told));
  s.take_output();
  s.call(op::sync, path_body("/"), now, note(told));
  s.lost();
  EXPECT_EQ(told, (std::vector{how::unknown, how::not_sent}));
}

TEST_F(zookeeper_session, an_answer_is_dated_with_its_request) {
  arrive();
  time_point sent;
  s.call(op::sync, path_body("/"), now + 5ms, [&](const response& r) { sent = r.sent; });
  now += 3s;
  EXPECT_TRUE(hears(reply(1)));
  EXPECT_EQ(sent, now - 3s + 5ms);
}

// A keep asks by a sync, and only a renewal that was not answered was noticed: its server was left when the hold was all but over.
TEST_F(zookeeper_session, tells_how_long_the_oldest_request_has_waited) {
  arrive();
  EXPECT_EQ(s.waits_since(), time_point::max());
  s.call(op::sync, path_body("/"), now, nullptr);
  EXPECT_EQ(s.waits_since(), time_point::max()) << "it has not left, whoever stood still meanwhile";
  s.take_output(now + 2s);
  s.call(op::set_data, path_body("/"), now + 3s, nullptr);
  EXPECT_EQ(s.waits_since(), now + 2s);
  s.take_output(now + 3s);
  EXPECT_TRUE(hears(reply(1)));
  EXPECT_EQ(s.waits_since(), now + 3s);
  s.lost();
  EXPECT_EQ(s.waits_since(), time_point::max());
}

TEST_F(zookeeper_session, what_was_answered_had_been_read) {
  arrive();
  const auto begun = now;
  EXPECT_EQ(s.read_by(now), begun) << "every server asks the leader about a session that comes to it";
  s.call(op::sync, path_body("/"), now += 1s, nullptr);
  s.take_output(now);
  EXPECT_TRUE((now += 1s, hears(reply(1))));
  EXPECT_EQ(s.read_by(begun + 1999ms), begun);
  EXPECT_EQ(s.read_by(begun + 2s), begun + 1s);
  s.call(op::sync, path_body("/"), now, nullptr);
  s.take_output(now);
  EXPECT_EQ(s.read_by(begun + 9s), begun + 1s) << "who does not answer may not have read it";
  s.lost();
  s.connected("other", now += 1s);
  s.take_output();
  ASSERT_TRUE(hears(greeting()));
  EXPECT_EQ(s.read_by(now), now) << "what the one before had read it may have told nobody";
}

// The ping was sent first, and so the renewal behind it was one after a packet that had just left: it proved as much as any other,
// though the leader had last heard of the session before the client stood still.
TEST_F(zookeeper_session, a_ping_that_left_with_a_renewal_was_not_heard_half_a_tick_before_it) {
  arrive();
  s.take_output();
  const auto begun = now;
  now += 5s;
  EXPECT_TRUE(s.on_time(now));
  EXPECT_NE(s.take_output(now), "");
  s.call(op::set_data, path_body("/"), now, nullptr);
  s.take_output(now);
  EXPECT_TRUE(hears(reply(-2)));
  EXPECT_TRUE(hears(reply(1)));
  EXPECT_EQ(s.read_by(now - 1s), begun);
  EXPECT_EQ(s.read_by(now), now);
}

TEST_F(zookeeper_session, an_answer_to_one_of_several_pings_is_one_to_the_first) {
  arrive();
  s.take_output();
  const auto begun = now;
  for (int i = 0; i < 2; ++i) {
    now = s.due();
    EXPECT_TRUE(s.on_time(now));
    s.take_output(now);
  }
  now += 10ms;
  EXPECT_TRUE(hears(reply(-2)));
  EXPECT_EQ(s.read_by(now), begun + 10000ms / session::pings);
}

// However much is said, what is noted reaches back as far as the session is long.
TEST_F(zookeeper_session, what_was_read_is_known_for_as_long_as_it_counts) {
  arrive();
  s.take_output();
  const auto begun = now;
  for (int i = 1; i <= 20'000; ++i) {
    s.call(op::sync, path_body("/"), now += 1ms, nullptr);
    s.take_output(now);
    ASSERT_TRUE(hears(reply(i)));
    if (i % 100 != 0) continue;
    const auto asked = std::max(begun, now - 9s), least = asked - 10000ms / (session::reads_noted - 2) - 1ms;
    EXPECT_GE(s.read_by(asked), std::max(begun, least)) << i;
    EXPECT_LE(s.read_by(asked), asked) << i;
  }
}

TEST_F(zookeeper_session, is_gone_if_the_server_does_not_know_it_or_gives_another) {
  arrive();
  s.lost();
  s.connected("host", now);
  EXPECT_FALSE(hears(greeting(10'000, 8)));  // ClickHouse Keeper
  EXPECT_EQ(gones, 1);
  EXPECT_TRUE(s.gone());
  session other{*this, 10s, {}};
  other.connected("host", now);
  EXPECT_FALSE(other.received(greeting(0, 0), now));
  EXPECT_EQ(gones, 2);
}

TEST_F(zookeeper_session, watches_are_set_again_in_packets_of_bounded_length) {
  arrive();
  const std::string stat(68, '\0');
  constexpr int many = 3000;
  for (int i = 0; i < many; ++i) {
    s.watch(op::get_data, "/" + std::string(95, 'n') + std::to_string(i), now, [](const response&) {});
    ASSERT_TRUE(hears(reply(i + 1, ok, writer{}.text({}).take() + stat)));
  }
  EXPECT_EQ(s.watches(), std::size_t{many});
  s.lost();
  s.connected("other", now);
  s.take_output();
  EXPECT_TRUE(hears(greeting()));
  int packets = 0;
  for (; s.has_output(); ++packets) {
    EXPECT_LT(s.take_output().size(), watches_in_packet_max + 1024);
    EXPECT_TRUE(hears(reply(-8)));
  }
  EXPECT_EQ(packets, 3);
}

TEST_F(zookeeper_session, a_watch_that_has_fired_is_not_set_again) {
  arrive();
  s.watch(op::get_data, "/a", now, [](const response&) {});
  EXPECT_TRUE(hears(reply(1, ok, writer{}.text({}).take() + std::string(68, '\0'))));
  EXPECT_TRUE(hears(packet(writer{}.number(-1).big(-1).number(0).number(2).number(3).text("/a").take())));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().what, event::kind::removed);
  EXPECT_EQ(s.watches(), 0u);
}

TEST_F(zookeeper_session, a_node_that_is_not_there_is_not_watched) {
  arrive();
  s.watch(op::get_data, "/a", now, [](const response&) {});
  EXPECT_TRUE(hears(reply(1, no_node)));
  EXPECT_EQ(s.watches(), 0u);
}

TEST_F(zookeeper_session, pings_when_it_has_nothing_to_say_and_leaves_who_is_silent) {
  arrive();
  s.take_output();
  EXPECT_EQ(s.due(), now + 10000ms / session::pings);
  EXPECT_TRUE(s.on_time(s.due()));
  EXPECT_TRUE(s.has_output());
  EXPECT_FALSE(s.on_time(now + 10000ms * 2 / 3 + 1ms));
}

// With the patience of one that is up, the session was over before another server was asked.
TEST_F(zookeeper_session, a_server_that_does_not_greet_is_left_in_time) {
  s.connected("host", now);
  s.take_output();
  EXPECT_EQ(s.due(), now + 10000ms / session::pings);
  EXPECT_FALSE(s.on_time(s.due()));
}

TEST_F(zookeeper_session, a_request_that_a_server_would_hang_up_on_is_not_sent) {
  arrive();
  std::vector<how> told;
  s.call(op::create, std::string(request_max, 'x'), now, note(told));
  EXPECT_EQ(told, std::vector{how::not_sent});
}

TEST_F(zookeeper_session, is_up_only_when_its_credentials_were_accepted) {
  session with{*this, 10s, {"user", "secret", false}};
  with.connected("host", now);
  with.take_output();
  EXPECT_TRUE(with.received(greeting(), now));
  EXPECT_FALSE(with.up());
  EXPECT_NE(with.take_output().find("user:secret"), std::string::npos);
  EXPECT_TRUE(with.received(reply(-4), now));
  EXPECT_TRUE(with.up());
  session refused{*this, 10s, {"user", "secret", false}};
  refused.connected("host", now);
  EXPECT_TRUE(refused.received(greeting(), now));
  EXPECT_FALSE(refused.received(reply(-4, auth_failed), now));
  EXPECT_TRUE(refused.refused());
  EXPECT_EQ(refused.words().find("secret"), std::string::npos);
}

// Who is not reached next says nothing about them.
TEST_F(zookeeper_session, a_refusal_of_the_credentials_is_one_of_this_connection) {
  session with{*this, 10s, {"user", "secret", false}};
  with.connected("host", now);
  EXPECT_TRUE(with.received(greeting(), now));
  EXPECT_FALSE(with.received(reply(-4, auth_failed), now));
  with.lost();
  EXPECT_FALSE(with.refused());
}

// The dialogue of RFC 2831, with the values of a server of ZooKeeper's.
TEST_F(zookeeper_session, with_sasl_the_server_proves_itself_too) {
  session with{*this, 10s, {"user", "secret", true}};
  with.connected("host", now);
  with.take_output();
  EXPECT_TRUE(with.received(greeting(), now));
  const auto said = [](std::int32_t xid, std::string_view token) {
    return reply(xid, ok, writer{}.text(token).take());
  };
  const std::string challenge = R"(realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess)";
  EXPECT_TRUE(with.received(said(1, challenge), now));
  const auto answer = with.take_output();
  EXPECT_NE(answer.find(R"(digest-uri="zookeeper/zk-sasl-md5")"), std::string::npos);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
  EXPECT_FALSE(with.up());
  EXPECT_FALSE(with.received(said(2, "rspauth=00"), now)) << "it does not know the password";
  EXPECT_FALSE(with.up());
  EXPECT_TRUE(with.refused());
}

}  // namespace tyer::zookeeper::wire
