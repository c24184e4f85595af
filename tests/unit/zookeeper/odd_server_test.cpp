// Servers that do not behave. The engine's own loop runs, so times are real.
#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"
#include "engines/zookeeper/line.hpp"
#include "unit/zookeeper/small_zookeeper.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::zookeeper::test {

namespace {

using namespace std::chrono_literals;

struct odd_server : ::testing::Test, engine::events {
  void wake(const engine::id&) override {}
  void suspect(const engine::id&) override {}
  void gone(const engine::id&) override { ++lost; }
  void asked(const engine::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const engine::server_facts&) override { is_up = true; }
  void down(const engine::failure& f) override { why_down = f.words; }

  void start(const std::string& hosts, std::chrono::milliseconds request_timeout = 5s) {
    auto uri = core::parse_uri("zk://" + hosts);
    ASSERT_FALSE(uri.error) << uri.error.words;
    auto made = ::tyer_engine_zookeeper(uri.value, {"tyer:", &ids, &clock, request_timeout, {}});
    ASSERT_FALSE(made.error) << made.error.words;
    value = std::move(made.value);
    value->open(*this);
  }
  template <class Condition>
  bool until(Condition so, std::chrono::milliseconds limit) {
    const auto end = clock.now() + limit;
    while (!so() && clock.now() < end) {
      server.work();
      value->run(clock.now() + 2ms);
    }
    return so();
  }

  engine::request request() {
    engine::request r;
    r.what = {ids.next(), "name"};
    r.ttl = r.waiter_ttl = 4s;
    r.not_after = 5s;
    r.enqueue = true;
    return r;
  }
  std::optional<engine::outcome<engine::answer>> acquire(const engine::request& r) {
    std::optional<engine::outcome<engine::answer>> got;
    value->acquire(r, [&](engine::outcome<engine::answer>&& o) { got.emplace(std::move(o)); });
    until([&] { return got.has_value(); }, 10s);
    return got;
  }

  static bool granted_in(const engine::outcome<engine::answer>& o) {
    const auto* a = std::get_if<engine::answer>(&o.result);
    return a != nullptr && std::holds_alternative<engine::granted>(*a);
  }

  own_server server;
  core::boot_clock clock;
  core::random_ids ids;
  bool is_up = false;
  int lost = 0;
  std::string why_down;
  std::unique_ptr<engine::engine> value;
};

// Each session that was given up was pinged for ever, since that is what such a server answers: until there were as many as there may
// be.
TEST_F(odd_server, one_that_answers_pings_alone_kept_every_session_that_was_given_up) {
  server.timeout_ms = 1000;
  start(server.host(), 200ms);
  ASSERT_TRUE(until([&] { return is_up; }, 10s));
  server.how = own_server::manner::answers_pings_alone;
  const auto before = server.ever;
  EXPECT_FALSE(until([&] { return server.connections() > 3; }, 6s)) << server.ever - before;
  EXPECT_GT(server.ever, before) << "another one is tried";
}

TEST_F(odd_server, one_that_greets_and_hangs_up_was_connected_to_again_without_a_pause) {
  server.how = own_server::manner::greets_and_hangs_up;
  start(server.host() + ',' + server.host() + ',' + server.host());
  EXPECT_FALSE(until([&] { return server.ever > 60; }, 1s));
  EXPECT_GT(server.ever, 3u);
  EXPECT_FALSE(is_up);
}

// So it could be with a server of another make. Whoever had it as its server had a client that did nothing else.
TEST_F(odd_server, one_that_knows_no_session_was_asked_for_the_next_without_a_pause) {
  server.greets = [](std::int64_t) { return 0; };
  start(server.host());
  EXPECT_FALSE(until([&] { return server.ever > 4; }, 1500ms)) << server.ever;
  EXPECT_GE(server.ever, 2U);
  EXPECT_FALSE(is_up);
}

// "The server is overloaded": the renewal was sent again as soon as that was read, until the session was over.
TEST_F(odd_server, one_that_is_overloaded_was_asked_to_renew_as_quickly_as_it_could_say_so) {
  server.timeout_ms = 1000;
  int renewals = 0;
  server.says = [&](wire::op what, const wire::reader&) -> std::optional<own_server::words> {
    if (what != wire::op::set_data) return std::nullopt;
    ++renewals;
    return own_server::words{wire::throttled, {}};
  };
  start(server.host());
  ASSERT_TRUE(until([&] { return is_up; }, 10s));
  EXPECT_FALSE(until([&] { return renewals > 16; }, 1s));
  EXPECT_GT(renewals, 1);
}

// "No such node", said whoever may not make what is above the nodes of sessions.
TEST_F(odd_server, one_that_allows_nothing_to_be_made_was_said_to_miss_a_node) {
  server.says = [](wire::op what, wire::reader r) -> std::optional<own_server::words> {
    if (what != wire::op::create) return std::nullopt;
    return own_server::words{r.text() == "/tyer" ? wire::no_auth : wire::no_node, {}};
  };
  start(server.host());
  const auto got = acquire(request());
  ASSERT_TRUE(got);
  const auto* f = std::get_if<engine::failure>(&got->result);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->kind, engine::why::refused);
  EXPECT_NE(f->words.find("not allowed"), std::string::npos) << f->words;
  EXPECT_NE(why_down.find("not allowed"), std::string::npos) << why_down;
}

// It was believed to live for as long as the last server had said, and its holds for as long as the one before.
TEST_F(odd_server, a_session_that_the_next_server_made_shorter_kept_its_holds) {
  small_zookeeper zoo{server};
  server.timeout_ms = 60'000;
  start(server.host());
  ASSERT_TRUE(until([&] { return is_up; }, 10s));
  auto longer_than_the_test = request();
  longer_than_the_test.ttl = 60s;
  const auto got = acquire(longer_than_the_test);
  ASSERT_TRUE(got && granted_in(*got));
  const auto move = [&] {
    const auto before = server.ever;
    server.hang_up();
    return until([&] { return server.ever > before && server.connections() > 0; }, 10s);
  };
  ASSERT_TRUE(move());
  EXPECT_FALSE(until([&] { return lost > 0; }, 500ms));
  server.timeout_ms = 50'000;
  ASSERT_TRUE(move());
  EXPECT_TRUE(until([&] { return lost == 1; }, 10s));
}

// As a server shows it.
std::string stat_of(std::int64_t created, std::int32_t child_version, std::int32_t children, std::int32_t version = 0) {
  wire::writer w;
  w.big(created).big(created).big(0).big(0).number(version).number(child_version).number(0).big(0).number(0);
  return w.number(children).big(created).take();
}

// The look had shown a container in which one node had been made, and which was empty. It was swept and made again, and somebody got
// the lock there as the first: so the next number was the one that follows the look, and the lock was granted a second time.
TEST_F(odd_server, a_lock_was_granted_by_the_numbers_of_a_container_that_was_no_more) {
  const auto other = new_node(mode::exclusive, ids.next(), 1, 1) + "0000000000";
  std::string mine;
  server.says = [&](wire::op what, wire::reader r) -> std::optional<own_server::words> {
    const std::string path{r.text()};
    if (!path.starts_with("/tyer/q/")) return std::nullopt;
    wire::writer w;
    if (what == wire::op::create_stat) {
      mine = path.substr(path.rfind('/') + 1) + "0000000001";
      return own_server::words{wire::ok, w.text(path + "0000000001").raw(stat_of(50, 0, 0)).take()};
    }
    if (what == wire::op::exists) return own_server::words{wire::ok, stat_of(9, 2, 2)};
    if (what == wire::op::get_data)
      return own_server::words{wire::ok, w.text(write(record{})).raw(stat_of(40, 0, 0)).take()};
    if (what != wire::op::get_children) return std::nullopt;
    if (mine.empty()) return own_server::words{wire::ok, w.number(0).raw(stat_of(5, 2, 0)).take()};
    return own_server::words{wire::ok, w.number(2).text(other).text(mine).raw(stat_of(9, 2, 2)).take()};
  };
  start(server.host());
  ASSERT_TRUE(until([&] { return is_up; }, 10s));
  const auto got = acquire(request());
  ASSERT_TRUE(got);
  const auto* answer = std::get_if<engine::answer>(&got->result);
  ASSERT_NE(answer, nullptr);
  EXPECT_TRUE(std::holds_alternative<engine::queued>(*answer)) << mine;
}

// A name with permits, whose data is kept. As soon as the one client that there is leaves, somebody else comes between two of its
// requests: after the first look, and with a slot.
struct semaphore {
  std::string other, mine;
  record_of_name data;
  std::int32_t version = 0;
  bool leaves = false;
  int looks = 0;

  own_server::words name_is() const { return {wire::ok, stat_of(5, 2, 1, version)}; }
  own_server::words children() {
    wire::writer w;
    if (mine.empty()) return {wire::ok, w.number(0).raw(stat_of(5, 0, 0)).take()};
    if (!leaves || looks++ == 0) return {wire::ok, w.number(1).text(mine).raw(stat_of(5, 1, 1, version)).take()};
    return {wire::ok, w.number(2).text(mine).text(other).raw(stat_of(5, 2, 2, version)).take()};
  }
  own_server::words data_of(bool name) {
    wire::writer w;
    if (!name) return {wire::ok, w.text(write(record{})).raw(stat_of(40, 0, 0)).take()};
    if (leaves) data.slots[1] = {1};
    return {wire::ok, w.text(version == 0 ? "" : write(data)).raw(stat_of(5, 1, 1, version)).take()};
  }
  void set(std::string_view bytes) {
    data = read_record_of_name(bytes).value_or(record_of_name{});
    ++version;
  }
  own_server::words leave(wire::reader r) {
    r.number(), r.flag(), r.number(), r.text(), r.number();  // the node
    r.number(), r.flag(), r.number(), r.text();
    set(r.text());
    wire::writer w;
    w.number(2).flag(false).number(0).number(5).flag(false).number(0).raw(stat_of(5, 2, 1, version));
    return {wire::ok, w.number(-1).flag(true).number(-1).take()};
  }
  std::optional<own_server::words> answer(wire::op what, wire::reader r) {
    if (what == wire::op::multi) return leave(r);
    const std::string path{r.text()};
    if (!path.starts_with("/tyer/q/")) return std::nullopt;
    switch (what) {
      case wire::op::create_stat:
        mine = path.substr(path.rfind('/') + 1) + "0000000000";
        return own_server::words{wire::ok, wire::writer{}.text(path + "0000000000").raw(stat_of(50, 0, 0)).take()};
      case wire::op::exists: return name_is();
      case wire::op::get_children: return children();
      case wire::op::get_data: return data_of(path.find('/', 8) == path.npos);
      case wire::op::set_data: set(r.text()); return name_is();
      default: return std::nullopt;
    }
  }
};

// The list was read before the data: whoever had come meanwhile was in the data and not in the list, and lost its slot to the next.
TEST_F(odd_server, slots_that_were_given_between_two_requests_were_taken_away_again) {
  semaphore s;
  s.other = new_node(mode::permit, ids.next(), 1, 3) + "0000000001";
  server.says = [&](wire::op what, const wire::reader& r) { return s.answer(what, r); };
  start(server.host());
  ASSERT_TRUE(until([&] { return is_up; }, 10s));
  auto r = request();
  r.what.how = mode::permit;
  r.capacity = 3;
  const auto got = acquire(r);
  ASSERT_TRUE(got);
  const auto* answer = std::get_if<engine::answer>(&got->result);
  ASSERT_TRUE(answer != nullptr && std::holds_alternative<engine::granted>(*answer));
  s.leaves = true;
  std::optional<engine::outcome<engine::fate>> released;
  value->release(r.what, true, [&](engine::outcome<engine::fate>&& o) { released.emplace(std::move(o)); });
  ASSERT_TRUE(until([&] { return released.has_value(); }, 10s));
  EXPECT_EQ(s.data.slots, (std::map<std::int32_t, std::vector<std::uint32_t>>{{1, {1}}}));
}

}  // namespace

}  // namespace tyer::zookeeper::test
