#include "engines/kit/reconnect.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace std::chrono_literals;
using tyer::kit::reconnect;
using duration = reconnect::duration;
using time_point = reconnect::time_point;

struct search {
  duration found{};
  int attempts = 0;
};

// A server that is away, or refuses us, from now on and is back after that time, if chance makes every pause this part of the longest.
search look_for(duration back, double part, duration (reconnect::*ended)(time_point) noexcept = &reconnect::lost) {
  search s;
  reconnect r;
  const auto pause = [&](time_point t) {
    return duration{static_cast<duration::rep>(static_cast<double>((r.*ended)(t).count()) * part)};
  };
  for (time_point t{1h}; t < time_point{1h} + back;) {
    t += pause(t);
    s.found = t - time_point{1h};
    ++s.attempts;
  }
  return s;
}

TEST(reconnect, an_outage_costs_a_hold_at_most_a_quarter_more_than_it_lasts) {
  for (duration back = 1ms; back < 4s; back += 1ms) {
    for (const double part : {0.5, 0.75, 1.0})
      EXPECT_LE(look_for(back, part).found, back + reconnect::pause_least + back / 4);
  }
}

TEST(reconnect, a_server_that_is_away_for_long_is_asked_seldom) {
  reconnect r;
  EXPECT_EQ(r.lost(time_point{}), reconnect::pause_least);
  EXPECT_EQ(r.lost(time_point{1h}), reconnect::pause_most);
  EXPECT_LE(look_for(1s, 0.5).attempts, 32);
  EXPECT_LE(look_for(60s, 0.5).attempts, 160);
}

// It was: once a second by each client, for as long as nobody mended it, and some servers lock an account for that.
TEST(reconnect, a_server_that_refuses_us_was_asked_every_second_without_end) {
  EXPECT_LE(look_for(1min, 0.5, &reconnect::refused).attempts, 25);
  EXPECT_LE(look_for(1h, 0.5, &reconnect::refused).attempts, 25 + 59 * 12);
  EXPECT_LE(look_for(1h, 1, &reconnect::refused).attempts, 15 + 59 * 6);
}

TEST(reconnect, whoever_mends_what_a_server_refuses_waits_for_ten_seconds_at_the_most) {
  for (duration back = 1ms; back < 60s; back += 11ms) {
    for (const double part : {0.5, 0.75, 1.0}) {
      EXPECT_LE(look_for(back, part, &reconnect::refused).found,
                back + std::clamp<duration>(back / 2, reconnect::refused_least, reconnect::refused_most));
    }
  }
}

TEST(reconnect, a_server_that_is_away_after_it_has_refused_us_is_tried_as_soon_as_any) {
  reconnect r;
  r.refused(time_point{});
  EXPECT_EQ(r.lost(time_point{1s}), 250ms);
  EXPECT_EQ(r.refused(time_point{1100ms}), reconnect::refused_least);
}

// Away at 0, back after `away`, up for `lasted`, and then an attempt that fails `later`: how long the pause is then.
duration pause_after(duration away, duration lasted, duration later) {
  reconnect r;
  r.lost(time_point{});
  r.up(time_point{away});
  r.lost(time_point{away + lasted});
  return r.lost(time_point{away + lasted + later});
}

TEST(reconnect, resets_every_quarter_of_a_second_grew_to_an_outage) {
  EXPECT_EQ(pause_after(30ms, 250ms, 400ms), 100ms) << "the absence begins anew";
  EXPECT_EQ(pause_after(30ms, 100ms, 400ms), 100ms);
  EXPECT_GT(pause_after(30ms, 99ms, 400ms), 100ms) << "it lets everybody in and cuts them off";
  EXPECT_EQ(pause_after(400ms, 400ms, 400ms), 100ms);
  EXPECT_GT(pause_after(400ms, 399ms, 400ms), 100ms);
  EXPECT_EQ(pause_after(1h, 1s, 400ms), 100ms);
  EXPECT_EQ(pause_after(1h, 999ms, 400ms), reconnect::pause_most);
}

TEST(reconnect, a_reset_soon_after_an_outage_kept_a_client_away_for_as_long_as_its_lease) {
  reconnect r;
  r.lost(time_point{});
  r.up(time_point{2160ms});
  EXPECT_LE(r.lost(time_point{2290ms}), 410ms);
  r.up(time_point{2700ms});
  EXPECT_EQ(r.lost(time_point{3660ms}), reconnect::pause_least) << "it was there for longer than attempts are apart";
}

TEST(reconnect, attempts_stay_apart_at_a_server_that_cuts_everybody_off) {
  for (const duration lasted : {duration{}, duration{5ms}, duration{50ms}}) {
    reconnect r;
    time_point t{};
    while (t < time_point{10min}) {
      r.up(t);
      t += lasted;
      t += r.lost(t);
    }
    r.up(t);
    EXPECT_EQ(lasted + r.lost(t + lasted), reconnect::pause_most) << lasted.count() << " ns";
  }
}

TEST(reconnect, another_server_is_tried_soon) {
  reconnect r;
  r.lost(time_point{});
  r.begin_anew(time_point{1h});
  EXPECT_EQ(r.lost(time_point{1h + 10ms}), reconnect::pause_least);
}

}  // namespace
