// Calls over a connection, byte by byte and on virtual time: answers that are late, lost, refused, cut short or too long.
#include "engines/etcd/wire/traffic.hpp"

#include "unit/etcd/server_end.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tyer::etcd::wire {
namespace {

using namespace std::chrono_literals;

struct one final : traffic::call {
  explicit one(bool both_ways = false, std::string token = {}, std::size_t longest = 1000)
      : traffic::call("/pkg.Service/Method", std::move(token), both_ways, longest) {}
  void ready() noexcept override {
    for (auto& m : take_messages()) messages.push_back(std::move(m));
    if (auto e = take_end()) {
      ++ends;
      end = std::move(*e);
    }
  }
  void forget() noexcept override { ++forgotten; }
  std::vector<std::string> messages;
  status end;
  int ends = 0, forgotten = 0;
};

std::string framed(std::string_view m) {
  std::string all;
  append_framed(all, m);
  return all;
}

struct etcd_traffic : ::testing::Test {
  std::shared_ptr<one> call(const std::string& request = "question", lease_clock::duration within = 5s) {
    auto c = std::make_shared<one>();
    machine.add(c, request, now, now + within);
    return c;
  }
  std::shared_ptr<one> both_ways() {
    auto c = std::make_shared<one>(true);
    machine.add(c, {}, now, time_point::max());
    return c;
  }
  void connect() {
    machine.arriving();
    machine.connected(now);
    pass();
  }
  // Everything to and fro, in pieces, until both are silent.
  bool pass(std::size_t piece = 1 << 20) {
    for (;;) {
      std::string there;
      if (!machine.output(there, now)) return false;
      server->feed(there);
      const auto back = server->output();
      for (std::size_t at = 0; at < back.size(); at += piece) {
        if (!machine.feed(std::string_view{back}.substr(at, piece), now)) return false;
      }
      if (there.empty() && back.empty()) return true;
    }
  }
  void answer(std::int32_t to, const std::string& message) {
    server->begin(to);
    server->data(to, framed(message));
  }
  void finish(std::int32_t to, const server_end::fields& more = {{"grpc-status", "0"}}) { server->trailers(to, more); }

  time_point now{1h};
  std::unique_ptr<server_end> server = std::make_unique<server_end>();
  traffic machine{"host:2379", false};
};

// Who would have been told has the call, and the call has him: a release that was under way when its client ended was never freed.
TEST_F(etcd_traffic, what_is_dropped_lets_go_of_who_would_have_been_told) {
  const auto waiting = call(), stream = both_ways();
  machine.drop();
  EXPECT_EQ(waiting->forgotten + stream->forgotten, 2);
  EXPECT_EQ(waiting->ends + stream->ends, 0);
}

TEST_F(etcd_traffic, a_call_waits_for_the_connection_and_has_its_answer) {
  const auto c = call();
  EXPECT_TRUE(machine.wants_connection());
  connect();
  ASSERT_EQ(machine.now(), traffic::state::up);
  const auto& got = server->got.at(1);
  EXPECT_EQ(got.headers.at(":path"), "/pkg.Service/Method");
  EXPECT_EQ(got.headers.at(":method"), "POST");
  EXPECT_EQ(got.headers.at(":scheme"), "http");
  EXPECT_EQ(got.headers.at(":authority"), "host:2379");
  EXPECT_EQ(got.headers.at("te"), "trailers");
  EXPECT_EQ(got.headers.at("content-type"), "application/grpc");
  EXPECT_EQ(got.headers.at("grpc-timeout"), "5000m");
  EXPECT_FALSE(got.headers.contains("token"));
  EXPECT_EQ(got.body, framed("question"));
  EXPECT_TRUE(got.half_closed);
  answer(1, "answer");
  pass();
  EXPECT_EQ(c->ends, 0);
  finish(1);
  pass();
  EXPECT_EQ(c->ends, 1);
  EXPECT_TRUE(c->end.ok());
  EXPECT_EQ(c->messages, std::vector<std::string>{"answer"});
  EXPECT_TRUE(machine.is_idle());
}

TEST_F(etcd_traffic, frames_that_are_split_anywhere_are_put_together) {
  connect();
  const auto c = call();
  pass();
  answer(1, std::string(900, 'x'));
  finish(1);
  pass(1);
  EXPECT_EQ(c->ends, 1);
  ASSERT_EQ(c->messages.size(), 1U);
  EXPECT_EQ(c->messages[0].size(), 900U);
}

TEST_F(etcd_traffic, calls_of_one_turn_leave_together) {
  connect();
  for (int i = 0; i < 50; ++i) call();
  std::string there;
  machine.output(there, now);
  server->feed(there);
  EXPECT_EQ(server->got.size(), 50U);
}

TEST_F(etcd_traffic, a_token_is_sent) {
  connect();
  const auto c = std::make_shared<one>(false, "simple.123");
  machine.add(c, "x", now, now + 1s);
  pass();
  EXPECT_EQ(server->got.at(1).headers.at("token"), "simple.123");
}

TEST_F(etcd_traffic, an_error_in_trailers_alone_is_told_with_its_reason) {
  connect();
  const auto c = call();
  pass();
  server->headers(1,
                  {{":status", "200"},
                   {"content-type", "application/grpc"},
                   {"grpc-status", "16"},
                   {"grpc-message", "etcdserver%3A invalid auth token"}},
                  true);
  pass();
  EXPECT_EQ(c->end.is, code::unauthenticated);
  EXPECT_EQ(c->end.words, "etcdserver: invalid auth token");
  EXPECT_TRUE(c->end.sent);
}

TEST_F(etcd_traffic, no_message_is_no_answer) {
  connect();
  const auto c = call();
  pass();
  server->headers(1, {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "0"}}, true);
  pass();
  EXPECT_EQ(c->end.is, code::internal);
}

TEST_F(etcd_traffic, an_answer_without_a_status_is_not_taken_for_one) {
  connect();
  const auto c = call();
  pass();
  answer(1, "answer");
  finish(1, {{"something", "else"}});
  pass();
  EXPECT_EQ(c->ends, 1);
  EXPECT_FALSE(c->end.ok());
  EXPECT_TRUE(c->messages.empty());
}

TEST_F(etcd_traffic, a_message_that_is_cut_short_is_no_answer) {
  connect();
  const auto c = call();
  pass();
  server->begin(1);
  server->data(1, framed("answer").substr(0, 8));
  pass();
  finish(1);
  pass();
  EXPECT_EQ(c->end.is, code::internal);
  EXPECT_TRUE(c->messages.empty());
}

TEST_F(etcd_traffic, a_web_page_is_no_answer) {
  connect();
  const auto c = call();
  pass();
  server->headers(1, {{":status", "503"}, {"content-type", "text/html"}});
  server->data(1, "<html>");
  finish(1, {{"x", "y"}});
  pass();
  EXPECT_EQ(c->end.is, code::unavailable);
}

TEST_F(etcd_traffic, an_answer_that_is_too_long_ends_its_call_alone) {
  connect();
  const auto c = call(), other = call();
  pass();
  answer(1, std::string(1001, 'x'));
  pass();
  EXPECT_EQ(c->ends, 1);
  EXPECT_EQ(c->end.is, code::internal);
  EXPECT_EQ(server->got.at(1).reset, NGHTTP2_CANCEL);
  answer(3, "answer");
  finish(3);
  pass();
  EXPECT_TRUE(other->end.ok());
}

TEST_F(etcd_traffic, at_its_deadline_a_call_is_reset_and_a_late_answer_goes_nowhere) {
  connect();
  const auto c = call("question", 1s);
  pass();
  EXPECT_EQ(machine.due(), now + 1s);
  answer(1, "late");
  finish(1);
  const auto late = server->output();
  now += 1s;
  EXPECT_TRUE(machine.on_time(now));
  EXPECT_EQ(c->end.is, code::deadline_exceeded);
  EXPECT_TRUE(c->end.sent);
  EXPECT_TRUE(machine.feed(late, now));
  pass();
  EXPECT_EQ(c->ends, 1);
  const auto next = call();
  pass();
  answer(3, "answer");
  finish(3);
  pass();
  EXPECT_TRUE(next->end.ok());
}

TEST_F(etcd_traffic, a_call_that_never_left_was_not_sent) {
  const auto waits = call("question", 1s), cancelled = call(), lost = call();
  machine.arriving();
  machine.cancel(*cancelled);
  EXPECT_EQ(cancelled->end.is, code::cancelled);
  EXPECT_FALSE(cancelled->end.sent);
  now += 1s;
  machine.on_time(now);
  EXPECT_EQ(waits->end.is, code::deadline_exceeded);
  EXPECT_FALSE(waits->end.sent);
  machine.lost("refused");
  EXPECT_EQ(lost->end.is, code::unavailable);
  EXPECT_EQ(lost->end.words, "refused");
  EXPECT_FALSE(lost->end.sent);
}

TEST_F(etcd_traffic, what_had_left_when_the_connection_was_lost_is_unknown) {
  connect();
  const auto left = call();
  pass();
  const auto collected = call();
  machine.lost("reset by peer");
  EXPECT_TRUE(left->end.sent);
  EXPECT_FALSE(collected->end.sent);
  EXPECT_EQ(machine.now(), traffic::state::away);
}

TEST_F(etcd_traffic, of_a_goaway_the_later_streams_were_not_sent_and_the_others_go_on) {
  connect();
  const auto first = call(), second = call();
  pass();
  server->go_away(1, "bye");
  EXPECT_TRUE(pass());
  EXPECT_EQ(second->end.is, code::unavailable);
  EXPECT_FALSE(second->end.sent);
  EXPECT_EQ(first->ends, 0);
  const auto third = call();
  EXPECT_EQ(third->end.is, code::unavailable);
  EXPECT_FALSE(third->end.sent);
  answer(1, "answer");
  finish(1);
  EXPECT_FALSE(pass()) << "nothing is left to wait for";
  EXPECT_TRUE(first->end.ok());
  EXPECT_EQ(machine.now(), traffic::state::away);
}

TEST_F(etcd_traffic, a_refused_stream_was_not_sent_any_other_reset_is_unknown) {
  connect();
  const auto refused = call(), broken = call();
  pass();
  server->reset(1, NGHTTP2_REFUSED_STREAM);
  server->reset(3, NGHTTP2_INTERNAL_ERROR);
  pass();
  EXPECT_FALSE(refused->end.sent);
  EXPECT_EQ(broken->ends, 1);
  EXPECT_TRUE(broken->end.sent);
  EXPECT_FALSE(broken->end.ok());
}

TEST_F(etcd_traffic, an_exhausted_window_holds_back_the_rest_until_it_opens) {
  server = std::make_unique<server_end>(100);
  connect();
  const auto c = call(std::string(300, 'x'));
  pass();
  EXPECT_EQ(server->got.at(1).body.size(), 100U);
  EXPECT_FALSE(server->got.at(1).half_closed);
  for (int i = 0; i < 3; ++i) {
    server->consume(1, 100);
    pass();
  }
  EXPECT_EQ(server->got.at(1).body, framed(std::string(300, 'x')));
  EXPECT_TRUE(server->got.at(1).half_closed);
  EXPECT_EQ(c->ends, 0);
}

TEST_F(etcd_traffic, more_calls_than_the_server_takes_at_once_wait_and_were_not_sent) {
  server = std::make_unique<server_end>(65'535, 1);
  connect();
  const auto first = call(), second = call();
  pass();
  EXPECT_EQ(server->got.size(), 1U);
  machine.lost("gone");
  EXPECT_TRUE(first->end.sent);
  EXPECT_FALSE(second->end.sent);
}

TEST_F(etcd_traffic, both_ways_messages_pass_until_the_end) {
  const auto c = both_ways();
  machine.send(*c, "before it is up");
  connect();
  machine.send(*c, "one");
  machine.send(*c, "two");
  pass();
  EXPECT_EQ(server->got.at(1).body, framed("before it is up") + framed("one") + framed("two"));
  EXPECT_FALSE(server->got.at(1).headers.contains("grpc-timeout"));
  server->begin(1);
  server->data(1, framed("a") + framed("b"));
  pass();
  EXPECT_EQ(c->messages, (std::vector<std::string>{"a", "b"}));
  machine.send(*c, "three");
  pass();
  EXPECT_TRUE(server->got.at(1).body.ends_with("three"));
  machine.cancel(*c);
  pass();
  EXPECT_EQ(server->got.at(1).reset, NGHTTP2_CANCEL);
  EXPECT_EQ(c->end.is, code::cancelled);
  machine.send(*c, "nowhere");
  EXPECT_TRUE(pass());
}

// It was: only a RST_STREAM was taken for the end of what we had not ended ourselves. etcd sends one, not every proxy does.
TEST_F(etcd_traffic, the_end_of_a_stream_that_we_had_left_open_was_not_told_when_the_server_did_not_reset_it) {
  connect();
  const auto c = both_ways();
  pass();
  answer(1, "last");
  finish(1, {{"grpc-status", "14"}, {"grpc-message", "bye"}});
  pass();
  EXPECT_EQ(c->messages, std::vector<std::string>{"last"});
  ASSERT_EQ(c->ends, 1);
  EXPECT_EQ(c->end.is, code::unavailable);
  EXPECT_EQ(c->end.words, "bye");
  EXPECT_EQ(server->got.at(1).reset, NGHTTP2_CANCEL);
  EXPECT_TRUE(machine.is_idle());
}

TEST_F(etcd_traffic, an_answer_that_comes_before_all_was_asked_is_told) {
  server = std::make_unique<server_end>(100);
  connect();
  const auto c = call(std::string(300, 'x'));
  pass();
  server->headers(
      1,
      {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "8"}, {"grpc-message", "too large"}},
      true);
  pass();
  ASSERT_EQ(c->ends, 1);
  EXPECT_EQ(c->end.is, code::resource_exhausted);
  EXPECT_TRUE(machine.is_idle());
  EXPECT_TRUE(pass());
}

// It was: they stayed where they were until their deadline.
TEST_F(etcd_traffic, of_a_goaway_those_that_waited_behind_a_limit_of_the_server_were_not_told) {
  server = std::make_unique<server_end>(65'535, 1);
  connect();
  const auto first = both_ways();
  const auto second = call();
  pass();
  server->go_away(1, "bye");
  EXPECT_TRUE(pass());
  EXPECT_EQ(first->ends, 0);
  ASSERT_EQ(second->ends, 1);
  EXPECT_EQ(second->end.is, code::unavailable);
  EXPECT_FALSE(second->end.sent);
}

TEST_F(etcd_traffic, a_call_that_a_limit_of_the_server_kept_from_leaving_says_so) {
  server = std::make_unique<server_end>(65'535, 1);
  connect();
  const auto first = both_ways();
  const auto second = call("question", 1s);
  pass();
  now += 1s;
  EXPECT_TRUE(machine.on_time(now));
  EXPECT_FALSE(second->end.sent);
  EXPECT_NE(second->end.words.find("takes no more calls"), std::string::npos) << second->end.words;
  pass();
  EXPECT_FALSE(server->got.contains(3)) << "it was given up";
  machine.cancel(*first);
  const auto third = call();
  pass();
  EXPECT_TRUE(server->got.contains(5));
}

TEST_F(etcd_traffic, a_silent_server_is_asked_and_then_given_up) {
  connect();
  const auto c = both_ways();
  pass();
  const auto asked = now + traffic::silent_for;
  EXPECT_EQ(machine.due(), asked);
  now = asked;
  EXPECT_TRUE(machine.on_time(now));
  std::string there;
  machine.output(there, now);
  server->feed(there);
  EXPECT_EQ(server->pings, 1);
  now += 1s;
  machine.feed(server->output(), now);  // it lives
  EXPECT_EQ(machine.due(), now + traffic::silent_for);
  now += traffic::silent_for;
  machine.on_time(now);
  now += traffic::answers_within;
  EXPECT_FALSE(machine.on_time(now));
  EXPECT_EQ(c->end.is, code::unavailable);
  EXPECT_TRUE(c->end.sent);
}

TEST_F(etcd_traffic, nobody_is_asked_while_nothing_is_under_way) {
  connect();
  EXPECT_EQ(machine.due(), time_point::max());
}

TEST_F(etcd_traffic, whoever_does_not_speak_http2_is_told_so) {
  const auto c = call();
  machine.arriving();
  machine.connected(now);
  std::string there;
  EXPECT_FALSE(machine.feed("HTTP/1.1 400 Bad Request\r\n\r\n", now) && machine.output(there, now));
  EXPECT_NE(c->end.words.find("does not speak HTTP/2"), std::string::npos) << c->end.words;
  EXPECT_FALSE(c->end.sent);
}

TEST_F(etcd_traffic, after_a_loss_the_next_call_begins_anew) {
  connect();
  const auto before = call();
  pass();
  machine.lost("gone");
  const auto c = call();
  EXPECT_TRUE(machine.wants_connection());
  server = std::make_unique<server_end>();
  connect();
  EXPECT_EQ(server->got.at(1).body, framed("question"));
  EXPECT_EQ(before->ends, 1);
  EXPECT_EQ(c->ends, 0);
}

}  // namespace
}  // namespace tyer::etcd::wire
