// lease_pool, answer by answer: the test is the engine and the server.
#include "engines/kit/lease_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace tyer::kit {
namespace {

using namespace std::chrono_literals;
using verb = lease_pool::order::verb;
using kind = lease_pool::news::kind;

class lease_pool_test : public ::testing::Test {
 protected:
  // What was ordered or told since this was asked last.
  std::vector<lease_pool::order> orders() { return std::exchange(out.orders, {}); }
  std::vector<lease_pool::news> told() { return std::exchange(out.told, {}); }
  lease_pool::order only_order() {
    const auto all = orders();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? lease_pool::order{verb::revoke, 0} : all.front();
  }
  lease_pool::news only_news() {
    auto all = told();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? lease_pool::news{kind::failed} : all.front();
  }

  void use(lease_pool::user who, milliseconds ttl) { pool.use(who, ttl, now, out); }
  void renew(lease_pool::user who, std::int64_t lease, time_point since) { pool.renew(who, lease, since, now, out); }
  void pass(milliseconds t) {
    now += t;
    pool.on_time(now, out);
  }
  // A lease that is there.
  void given(std::int64_t id, milliseconds ttl) {
    use(99, ttl);
    pool.on_granted(only_order().number, id, ttl, now, out);
    EXPECT_EQ(only_news().what, kind::ready);
  }

  static failure lost() { return no(why::unknown, errc::outcome_unknown, "lost"); }

  lease_pool pool;
  lease_pool::output out;
  time_point now{1000s};
};

// --- a lease to live by ---

TEST_F(lease_pool_test, all_who_want_the_same_length_join_one_grant) {
  use(1, 10s);
  use(2, 10s);
  const auto o = only_order();
  EXPECT_EQ(o.what, verb::grant);
  EXPECT_EQ(o.ttl, 10s);
  pool.on_granted(o.number, 7, 10s, now, out);
  const auto all = told();
  ASSERT_EQ(all.size(), 2U);
  for (const auto& n : all) EXPECT_EQ(n.lease, 7);
  use(3, 10s);
  EXPECT_EQ(only_news().lease, 7);
  EXPECT_TRUE(orders().empty());
}

TEST_F(lease_pool_test, a_grant_counts_from_its_sending) {
  use(1, 10s);
  const auto sent = now;
  now += 4s;
  pool.on_granted(only_order().number, 7, 10s, now, out);
  EXPECT_EQ(only_news().sent, sent);
  EXPECT_TRUE(pool.live(7, sent + 10s - 1ns));
  EXPECT_FALSE(pool.live(7, sent + 10s));
}

TEST_F(lease_pool_test, a_grant_that_comes_when_it_is_over_is_given_back) {
  use(1, 10s);
  const auto o = only_order();
  now += 10s;
  pool.on_granted(o.number, 7, 10s, now, out);
  const auto n = only_news();
  EXPECT_EQ(n.what, kind::failed);
  EXPECT_EQ(n.why_not.kind, why::not_sent);
  EXPECT_EQ(only_order().what, verb::revoke);
  EXPECT_FALSE(pool.live(7, now));
}

TEST_F(lease_pool_test, a_lease_that_is_shorter_than_asked_for_is_given_back) {
  use(1, 10s);
  pool.on_granted(only_order().number, 7, 5s, now, out);
  EXPECT_EQ(only_news().what, kind::failed);
  EXPECT_EQ(only_order().what, verb::revoke);
}

TEST_F(lease_pool_test, a_lost_grant_was_for_nothing_yet) {
  use(1, 10s);
  const auto first = only_order();
  pool.on_failure(first.number, lost(), now, out);
  EXPECT_EQ(only_news().why_not.kind, why::not_sent);
  use(1, 10s);
  EXPECT_EQ(only_order().what, verb::grant);
  pool.on_granted(first.number, 7, 10s, now, out);  // it comes all the same
  EXPECT_TRUE(told().empty());
  EXPECT_EQ(only_order().what, verb::revoke);
}

TEST_F(lease_pool_test, a_refused_grant_is_told_as_it_is) {
  use(1, 10s);
  pool.on_failure(only_order().number, no(why::refused, errc::refused, "no space"), now, out);
  EXPECT_EQ(only_news().why_not.kind, why::refused);
}

TEST_F(lease_pool_test, with_half_of_it_over_nobody_new_lives_by_it) {
  given(7, 10s);
  pass(4999ms);
  use(1, 10s);
  EXPECT_EQ(only_news().lease, 7);
  pass(1ms);
  use(1, 10s);
  EXPECT_EQ(only_order().what, verb::grant);
  EXPECT_TRUE(pool.live(7, now)) << "for those who do already";
}

// It was: with four leases at hand a hold lived by any that was long enough, for hours after its client had died.
TEST_F(lease_pool_test, a_short_hold_lived_by_the_lease_of_any_longer_lock) {
  for (int n = 1; n <= 20; ++n) given(n, n * 100s);
  use(1, 2s);
  const auto o = only_order();
  EXPECT_EQ(o.what, verb::grant);
  EXPECT_EQ(o.ttl, 2s);
}

TEST_F(lease_pool_test, of_more_than_sixteen_lengths_some_share_one_that_is_twice_as_long_at_most) {
  for (int n = 1; n <= 15; ++n) given(n, n * 10s);
  use(1, 15s);
  pool.on_granted(only_order().number, 16, 15s, now, out);
  EXPECT_EQ(only_news().lease, 16) << "there is room for its own";
  use(1, 25s);
  EXPECT_EQ(only_news().lease, 3);
  use(1, 5s);
  EXPECT_EQ(only_news().lease, 1);
  use(1, 4999ms);
  EXPECT_EQ(only_order().what, verb::grant) << "all are too long";
}

TEST_F(lease_pool_test, of_too_many_leases_the_oldest_is_offered_no_more) {
  auto length = 1ms;
  for (std::size_t n = 1; n <= lease_pool::leases_max + 1; ++n) {
    now += 1us;
    given(static_cast<std::int64_t>(n), 1h + (length *= 2));
  }
  use(1, 1h + 2ms);
  EXPECT_EQ(only_news().lease, 2);
  EXPECT_TRUE(pool.live(1, now)) << "for those who live by it";
}

// --- keeping it ---

TEST_F(lease_pool_test, one_renewal_serves_all_who_ask_meanwhile) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  renew(2, 7, now);
  const auto o = only_order();
  EXPECT_EQ(o.what, verb::renew);
  const auto sent = now;
  now += 500ms;
  pool.on_renewed(o.number, 10s, now, out);
  const auto all = told();
  ASSERT_EQ(all.size(), 2U);
  for (const auto& n : all) {
    EXPECT_EQ(n.what, kind::kept);
    EXPECT_EQ(n.sent, sent) << "never from the answer";
  }
  EXPECT_TRUE(pool.live(7, sent + 10s - 1ns));
  EXPECT_FALSE(pool.live(7, sent + 10s));
}

TEST_F(lease_pool_test, what_left_too_early_for_somebody_is_not_joined) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  pass(100ms);
  renew(2, 7, now);
  EXPECT_EQ(orders().size(), 2U);
}

TEST_F(lease_pool_test, what_was_confirmed_lately_enough_needs_no_request) {
  given(7, 10s);
  const auto kept = now;
  pass(1s);
  renew(1, 7, kept);
  EXPECT_EQ(only_news().sent, kept);
  EXPECT_TRUE(orders().empty());
}

TEST_F(lease_pool_test, an_answer_that_comes_twice_counts_once) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  const auto o = only_order();
  pool.on_renewed(o.number, 10s, now, out);
  told();
  now += 1s;
  pool.on_renewed(o.number, 10s, now, out);
  pool.on_failure(o.number, lost(), now, out);
  EXPECT_TRUE(told().empty());
}

TEST_F(lease_pool_test, an_earlier_renewal_that_is_answered_later_takes_nothing_back) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  const auto early = only_order();
  pass(500ms);
  renew(2, 7, now);
  const auto late = only_order();
  const auto sent = now;
  pool.on_renewed(late.number, 10s, now, out);
  pool.on_renewed(early.number, 10s, now, out);
  EXPECT_TRUE(pool.live(7, sent + 10s - 1ns));
}

TEST_F(lease_pool_test, a_lost_renewal_proves_nothing_and_ends_nothing) {
  given(7, 10s);
  const auto end = now + 10s;
  pass(1s);
  renew(1, 7, now);
  pool.on_failure(only_order().number, lost(), now, out);
  const auto n = only_news();
  EXPECT_EQ(n.what, kind::failed);
  EXPECT_EQ(n.why_not.kind, why::unknown);
  EXPECT_TRUE(pool.live(7, end - 1ns));
  EXPECT_FALSE(pool.live(7, end));
}

TEST_F(lease_pool_test, a_server_that_gives_less_is_believed) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  pool.on_renewed(only_order().number, 3s, now, out);
  EXPECT_EQ(only_news().ttl, 3s);
  EXPECT_FALSE(pool.live(7, now + 3s));
}

// --- what is over ---

TEST_F(lease_pool_test, what_is_past_its_deadline_is_condemned_once) {
  given(7, 10s);
  EXPECT_EQ(pool.due(), now + 10s);
  pass(10s);
  const auto n = only_news();
  EXPECT_EQ(n.what, kind::condemned);
  EXPECT_EQ(n.lease, 7);
  pass(1s);
  EXPECT_TRUE(told().empty());
  EXPECT_EQ(pool.due(), time_point::max());
}

TEST_F(lease_pool_test, no_answer_that_comes_later_extends_what_is_condemned) {
  given(7, 10s);
  pass(9s);
  renew(1, 7, now);
  const auto o = only_order();
  now += 1s;  // nobody looked at the time meanwhile
  pool.on_renewed(o.number, 10s, now, out);
  EXPECT_FALSE(pool.live(7, now));
  const auto all = told();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].who, 0U) << "the lease, for all who live by it";
  EXPECT_EQ(all[1].who, 1U) << "and whoever asked";
  for (const auto& n : all) EXPECT_EQ(n.what, kind::condemned);
}

TEST_F(lease_pool_test, a_lease_the_server_does_not_know_is_condemned) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  pool.on_renewed(only_order().number, 0ms, now, out);
  EXPECT_EQ(told().size(), 2U);
  EXPECT_FALSE(pool.live(7, now));
  renew(1, 7, now);
  EXPECT_EQ(only_news().what, kind::condemned);
  EXPECT_TRUE(orders().empty());

  given(8, 10s);
  pool.lost(8, now, out);
  EXPECT_EQ(only_news().lease, 8);
  pool.lost(8, now, out);
  EXPECT_TRUE(told().empty());
}

TEST_F(lease_pool_test, a_write_stands_if_its_lease_lived_when_it_left_and_when_it_was_answered) {
  given(7, 10s);
  pass(2s);
  const auto sent = now;
  now += 1s;
  EXPECT_EQ(pool.proven(7, sent, now), milliseconds{8s});
  EXPECT_EQ(pool.proven(8, sent, now), std::nullopt);
  now += 7s;
  EXPECT_EQ(pool.proven(7, sent, now), std::nullopt);
}

// --- servers ---

TEST_F(lease_pool_test, a_server_that_is_silent_for_a_sixth_of_the_ttl_is_left_once) {
  given(7, 12s);
  pass(1s);
  renew(1, 7, now);
  const auto o = only_order();
  EXPECT_EQ(pool.due(), now + 2s);
  pass(1999ms);
  EXPECT_TRUE(orders().empty());
  pass(1ms);
  const auto change = only_order();
  EXPECT_EQ(change.what, verb::change_server);
  EXPECT_EQ(change.number, o.number);
  pass(1s);
  EXPECT_TRUE(orders().empty());
  pool.on_renewed(o.number, 12s, now, out);  // it was only slow
  EXPECT_EQ(only_news().what, kind::kept);
}

TEST_F(lease_pool_test, when_the_connection_is_gone_all_are_told) {
  given(7, 10s);
  pass(1s);
  renew(1, 7, now);
  use(2, 20s);
  orders();
  pool.on_down(lost(), now, out);
  const auto all = told();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].why_not.kind, why::unknown);
  EXPECT_EQ(all[1].why_not.kind, why::not_sent);
  EXPECT_TRUE(pool.live(7, now)) << "as far as is known";
}

TEST_F(lease_pool_test, what_nobody_lives_by_is_given_back_at_the_end) {
  given(7, 10s);
  given(8, 20s);
  pool.close(std::array<std::int64_t, 1>{8}, out);
  const auto o = only_order();
  EXPECT_EQ(o.what, verb::revoke);
  EXPECT_EQ(o.lease, 7);
}

// --- a server that is late, silent and forgetful ---

// At no time is a lease believed to live that the server has ended.
TEST(lease_pool_and_server, never_believes_longer_than_the_server_keeps) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 dice{seed};
    const auto upto = [&](std::uint32_t n) { return dice() % n; };
    lease_pool pool;
    lease_pool::output out;
    time_point now{1000s};
    std::vector<std::pair<std::int64_t, time_point>> there;  // leases, and until when
    std::vector<lease_pool::order> on_the_way, answered;
    std::vector<milliseconds> with;
    std::int64_t last = 0;
    for (int n = 0; n < 400; ++n) {
      now += milliseconds{upto(300)};
      pool.on_time(now, out);
      if (upto(3) == 0) pool.use(1, std::array<milliseconds, 3>{2s, 3s, 6s}[upto(3)], now, out);
      if (!there.empty() && upto(2) == 0)
        pool.renew(2, there[upto(static_cast<std::uint32_t>(there.size()))].first, now - 100ms, now, out);
      for (auto& o : std::exchange(out.orders, {})) {
        if (o.what == verb::grant || o.what == verb::renew) on_the_way.push_back(o);
        if (o.what == verb::revoke) std::erase_if(there, [&](const auto& l) { return l.first == o.lease; });
      }
      out.told.clear();
      while (!on_the_way.empty() && upto(2) == 0) {  // carried out, in any order
        const auto at = upto(static_cast<std::uint32_t>(on_the_way.size()));
        auto o = on_the_way[at];
        on_the_way.erase(on_the_way.begin() + at);
        const auto lease = std::ranges::find(there, o.lease, &std::pair<std::int64_t, time_point>::first);
        const bool lives = lease != there.end() && lease->second > now;
        if (o.what == verb::grant) there.emplace_back(o.lease = ++last, now + o.ttl);
        if (o.what == verb::renew && lives) lease->second = std::max(lease->second, now + o.ttl);
        answered.push_back(o);
        with.push_back(o.what == verb::renew && !lives ? 0ms : o.ttl);
      }
      while (!answered.empty() && upto(2) == 0) {  // heard of, or not
        const auto at = upto(static_cast<std::uint32_t>(answered.size()));
        const auto o = answered[at];
        const auto ttl = with[at];
        answered.erase(answered.begin() + at);
        with.erase(with.begin() + at);
        if (upto(5) == 0) {
          pool.on_failure(o.number, no(why::unknown, errc::outcome_unknown, ""), now, out);
        } else if (o.what == verb::grant) {
          pool.on_granted(o.number, o.lease, ttl, now, out);
        } else {
          pool.on_renewed(o.number, ttl, now, out);
        }
      }
      for (std::int64_t id = 1; id <= last; ++id) {
        const auto at = std::ranges::find(there, id, &std::pair<std::int64_t, time_point>::first);
        ASSERT_TRUE(!pool.live(id, now) || (at != there.end() && at->second > now))
            << "seed " << seed << ", lease " << id;
      }
    }
    ASSERT_GT(last, 3) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tyer::kit
