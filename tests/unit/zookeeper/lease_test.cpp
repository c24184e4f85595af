#include "engines/zookeeper/lease.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper {

using namespace std::chrono_literals;

TEST(zookeeper_lease, proves_what_was_measured_to_hold) {
  EXPECT_EQ(proven_ttl(10s, 2s), 10000ms - 1666ms - 1666ms - 500ms);
  EXPECT_EQ(proven_ttl(4s, 2s), 4000ms - 666ms - 1000ms - 200ms);
  EXPECT_LT(proven_ttl(10s, 0ms), 5400ms);
}

TEST(zookeeper_lease, a_session_is_long_enough_for_its_holds_though_its_last_renewal_is_a_sixth_old) {
  for (const milliseconds ttl : {1ms, 500ms, 3000ms, 10'000ms, 3'600'000ms}) {
    EXPECT_GE(proven_ttl(session_for(ttl), 0ms), ttl + ttl / 6) << ttl.count();
  }
}

TEST(zookeeper_lease, counts_from_the_sending_and_never_goes_back) {
  lease l;
  const time_point t{1h};
  EXPECT_FALSE(l.live(t));
  l.made(t, 10s, 2s);
  const auto ttl = l.ttl();
  EXPECT_EQ(l.end(), t + ttl);
  l.renewed(t + 2s, t, t + 3s);
  EXPECT_EQ(l.end(), t + 2s + ttl);
  l.renewed(t + 1s, t, t + 3s);
  EXPECT_EQ(l.end(), t + 2s + ttl);
}

// A leader that stood still commits what waited for it, and expires the session right after.
TEST(zookeeper_lease, what_is_confirmed_after_the_end_extends_nothing) {
  lease l;
  const time_point t{1h};
  l.made(t, 10s, 2s);
  const auto end = l.end();
  l.renewed(end - 1ms, end - 3s, end);
  EXPECT_FALSE(l.live(end));
  l.renewed(end + 1s, end - 1s, end + 1s);
  EXPECT_FALSE(l.live(end - 1s)) << "for ever, whatever the clock says";
}

// A client that stood still writes, and its server is cut off right after: the leader has last heard of it before the stop. So it is
// if the server stood still, and reads what has come meanwhile.
TEST(zookeeper_lease, a_renewal_after_a_pause_proves_so_much_less) {
  lease l;
  const time_point t{1h};
  l.made(t, 12s, 2s);
  ASSERT_EQ(l.unheard(), 2s);
  l.renewed(t + 4s, t, t + 4s);
  EXPECT_EQ(l.end(), t + 4s + l.ttl()) << "as long as a pause may be";
  l.renewed(t + 9s, t + 4s, t + 9s);
  EXPECT_EQ(l.end(), t + 4s + 12s - 600ms) << "a session's length from what it knows, less the margin";
  l.renewed(t + 11s, t + 9s, t + 11s);
  EXPECT_EQ(l.end(), t + 11s + l.ttl());
}

// Nothing that a server may do makes a lease end later than the session may: a session's length after the last packet that the
// leader had heard of for certain.
TEST(zookeeper_lease, never_ends_later_than_the_leader_may_end_the_session) {
  const milliseconds length = 4s, tick = 2s;
  const time_point t{1h};
  for (milliseconds stop{}; stop < length; stop += 50ms) {
    for (milliseconds wait{}; wait < 2s; wait += 50ms) {
      lease l;
      l.made(t, length, tick);
      const auto sent = t + stop + wait;
      if (!l.live(sent)) continue;
      const auto told = sent - l.unheard() >= t + stop ? t + stop : t;  // it went on at t + stop, and was read at once
      l.renewed(sent, told, sent);
      EXPECT_LT(l.end(), told + length) << stop.count() << ' ' << wait.count();
    }
  }
}

// It counted as long as the last server said. The next leader ended it after the time that was written down when it was made.
TEST(zookeeper_lease, a_server_that_gives_more_at_a_reconnect_lengthens_nothing) {
  lease l;
  const time_point t{1h};
  l.made(t, 4s, 0s);
  l.moved(40s);
  EXPECT_EQ(l.end(), t + proven_ttl(4s, 0s));
  l.renewed(t + 1s, t + 1s, t + 1s);
  EXPECT_EQ(l.end(), t + 1s + proven_ttl(4s, 0s));
}

// What a caller was told by then would have outlived it.
TEST(zookeeper_lease, a_server_that_gives_less_at_a_reconnect_ends_it) {
  lease l;
  const time_point t{1h};
  l.made(t, 10s, 0s);
  l.moved(10s);
  EXPECT_TRUE(l.live(t));
  l.moved(4s);
  EXPECT_FALSE(l.live(t));
}

}  // namespace tyer::zookeeper
