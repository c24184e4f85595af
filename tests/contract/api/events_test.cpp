// What a client reports to on_event, on a real server.
#include "contract/api/fixture.hpp"

#include <tyer/event.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

namespace contract {
namespace {

using tyer::event_kind;

class events : public fixture {
 protected:
  tyer::client listen(tyer::client_options o = {}) {
    o.on_event = [this](const tyer::event& e) {
      const std::lock_guard lock{mutex_};
      heard_.push_back(e);
    };
    return connect(std::move(o));
  }
  std::optional<tyer::event> first(event_kind kind) {
    const std::lock_guard lock{mutex_};
    const auto at = std::ranges::find(heard_, kind, &tyer::event::kind);
    return at == heard_.end() ? std::nullopt : std::optional{*at};
  }
  bool comes(event_kind kind) {
    return eventually([&] { return first(kind).has_value(); });
  }
  void forget() {
    const std::lock_guard lock{mutex_};
    heard_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<tyer::event> heard_;
};

TEST_F(events, a_loss_and_somebody_who_asks) {
  auto c = listen(), other = connect();
  const auto h = tyer::mutex{c, name(), {.ttl = 60s}}.acquire();
  EXPECT_EQ(other.ask(name(), "a bigger job"), 1U);
  ASSERT_TRUE(comes(event_kind::revoked));
  EXPECT_EQ(first(event_kind::revoked)->name, name());
  EXPECT_EQ(first(event_kind::revoked)->words, "a bigger job");
  ASSERT_EQ(raw().evict(raw().holding(name()).at(0)), tyer::engine::fate::holding);
  ASSERT_TRUE(comes(event_kind::lost));
  EXPECT_EQ(first(event_kind::lost)->reason, tyer::loss_reason::gone);
  EXPECT_EQ(first(event_kind::lost)->id, h.id());
}

TEST_F(events, a_wait_that_takes_long_and_who_has_the_lock) {
  if (!can().queue || !can().owners) GTEST_SKIP() << no_queue;
  auto c = listen({.slow_wait = 200ms}), other = connect({.label = "the-reporter"});
  const auto theirs = tyer::mutex{other, name(), {.ttl = 60s}}.acquire();
  const auto none = tyer::mutex{c, name(), {.ttl = 60s}}.try_acquire_for(1s);
  EXPECT_FALSE(none);
  ASSERT_TRUE(comes(event_kind::slow_wait));
  const auto e = *first(event_kind::slow_wait);
  EXPECT_EQ(e.name, name());
  EXPECT_GE(e.lasted, 200ms);
  ASSERT_EQ(e.holders.size(), 1U) << e.text;
  EXPECT_EQ(e.holders.front().owner.label, "the-reporter");
  EXPECT_TRUE(e.holders.front().owner.since);
  EXPECT_NE(e.text.find("the-reporter"), std::string::npos) << e.text;
}

TEST_F(events, an_engine_that_is_away_and_comes_back) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  auto c = listen({.request_timeout = 300ms});
  ASSERT_TRUE(comes(event_kind::connected));
  EXPECT_FALSE(first(event_kind::connected)->server.empty());
  forget();
  engine.kill();
  tyer::failure why;
  static_cast<void>(tyer::mutex{c, name()}.try_acquire(why).valid());
  ASSERT_TRUE(comes(event_kind::disconnected));
  EXPECT_FALSE(first(event_kind::disconnected)->words.empty());
  engine.restart();
  EXPECT_TRUE(eventually(
      [&] { return first(event_kind::connected).has_value() || first(event_kind::server_changed).has_value(); }));
}

}  // namespace
}  // namespace contract
