// min_hold, max_hold and lock_delay, to the moment; and a note that is there as long as its hold.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tyer::testing_api {
namespace {

class terms_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  mutex theirs{b, "x", {.ttl = 10s}};
};

TEST_F(terms_on_hand_time, given_back_early_it_is_free_when_its_min_hold_is_over) {
  mutex mine{a, "x", {.ttl = 10s, .min_hold = 60s}};
  hold h = mine.acquire();
  engine.advance(1s);
  EXPECT_EQ(h.release(), release_outcome::released);
  auto waiting = acquire_later(theirs);
  engine.advance(58999ms);  // far longer than the ttl: it is renewed
  EXPECT_FALSE(waiting.is_there());
  engine.advance(1ms);
  engine.advance(1ms);
  ASSERT_TRUE(waiting.is_there());
}

TEST_F(terms_on_hand_time, a_min_hold_counts_for_every_owner_of_its_own) {
  mutex mine{a, "x", {.ttl = 10s, .min_hold = 5s}};
  hold h = mine.acquire();
  auto next = acquire_later(mine);
  engine.advance(4s);  // renewed since the next one came: it may be handed off
  h.release();
  engine.advance(999ms);
  EXPECT_FALSE(next.is_there());
  engine.advance(2ms);
  ASSERT_TRUE(next.is_there());
  hold second = next.get().got;
  second.release();
  engine.advance(4990ms);
  EXPECT_FALSE(took(theirs.try_acquire()));
  engine.advance(20ms);
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(terms_on_hand_time, a_note_made_of_temporaries_was_published_as_garbage) {
  const std::string host = "a-host-whose-name-is-longer-than-any-small-string", address = host + ":8080";
  const lock_options named{.ttl = 10s, .note = host + ":8080"};
  std::string reused(address.size(), '#');  // where the temporary was, if nobody owns it
  election office{a, "scheduler", named};
  hold term = office.campaign();
  EXPECT_EQ(office.current().value().note, address);
  EXPECT_EQ(admin{b}.show("scheduler").at(0).owner.note, address);
}

TEST_F(terms_on_hand_time, a_campaign_can_tell_instead_of_throwing) {
  election mine{a, "office"}, other{b, "office"};
  failure why = errc::closed;
  hold term = mine.campaign(why);
  EXPECT_TRUE(term && !why);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(took(other.campaign(why, stop.get_token())));
  EXPECT_TRUE(why == errc::cancelled);
  const client& asking = b;
  EXPECT_EQ(asking.ask("office"), 1U);
  EXPECT_TRUE(term.valid());
}

TEST_F(terms_on_hand_time, one_that_rests_can_be_lost) {
  mutex mine{a, "x", {.ttl = 10s, .min_hold = 60s}};
  mine.acquire().release();
  engine.advance(1s);
  engine.lose_everything();
  engine.advance(1ms);
  hold next = theirs.try_acquire();
  EXPECT_TRUE(next);
  EXPECT_FALSE(took(mine.try_acquire()));
}

TEST_F(terms_on_hand_time, a_closed_client_leaves_it_taken_for_the_rest_of_its_min_hold) {
  std::optional<client> c{engine.connect()};
  hold h = mutex{*c, "x", {.ttl = 10s, .min_hold = 60s}}.acquire();
  engine.advance(20s);
  c.reset();
  EXPECT_TRUE(h.lost().stop_requested());
  engine.advance(39s);
  EXPECT_FALSE(took(theirs.try_acquire()));
  engine.advance(1001ms);
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(terms_on_hand_time, a_closed_client_leaves_what_it_had_given_back_taken_too) {
  std::optional<client> c{engine.connect()};
  mutex{*c, "x", {.ttl = 10s, .min_hold = 60s}}.acquire().release();
  engine.advance(20s);
  c.reset();
  engine.advance(39s);
  EXPECT_FALSE(took(theirs.try_acquire()));
  engine.advance(1001ms);
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(terms_on_hand_time, a_max_hold_ends_it_to_the_moment) {
  mutex mine{a, "x", {.ttl = 10s, .max_hold = 60s}};
  hold h = mine.acquire();
  const auto begun = engine.now();
  auto waiting = acquire_later(theirs);
  engine.advance(59s);
  EXPECT_TRUE(h.valid());
  EXPECT_LE(h.valid_until(), begun + 60s);
  engine.advance(999ms);
  EXPECT_TRUE(h.lost().stop_requested());  // a margin before
  EXPECT_FALSE(h.valid());
  EXPECT_FALSE(waiting.is_there());
  engine.advance(2ms);
  ASSERT_TRUE(waiting.is_there());
  EXPECT_TRUE(waiting.get().got.valid());
  EXPECT_EQ(h.release(), release_outcome::already_gone);
}

TEST_F(terms_on_hand_time, a_max_hold_counts_anew_for_whoever_is_handed_it) {
  mutex mine{a, "x", {.ttl = 10s, .max_hold = 10s}};
  hold h = mine.acquire();
  auto next = acquire_later(mine);
  engine.advance(6s);
  h.release();
  engine.advance(1ms);
  ASSERT_TRUE(next.is_there());
  hold second = next.get().got;
  engine.advance(9s);
  EXPECT_TRUE(second.valid());
  engine.advance(1s);
  EXPECT_FALSE(second.valid());
}

TEST_F(terms_on_hand_time, after_a_loss_the_lock_delay_is_kept_to_the_moment) {
  mutex mine{a, "x", {.ttl = 10s, .lock_delay = 30s}};
  hold h = mine.acquire();
  engine.lose(h);
  EXPECT_TRUE(h.lost().stop_requested());
  auto waiting = acquire_later(theirs);
  engine.advance(29999ms);
  EXPECT_FALSE(waiting.is_there());
  engine.advance(2ms);
  EXPECT_TRUE(waiting.is_there());
}

TEST_F(terms_on_hand_time, saying_that_it_has_stopped_ends_the_lock_delay) {
  mutex mine{a, "x", {.ttl = 10s, .lock_delay = 30s}};
  hold h = mine.acquire();
  engine.lose(h);
  auto waiting = acquire_later(theirs);
  engine.advance(1s);
  EXPECT_FALSE(waiting.is_there());
  EXPECT_EQ(h.release(), release_outcome::already_gone);
  engine.advance(1ms);
  EXPECT_TRUE(waiting.is_there());
}

TEST_F(terms_on_hand_time, a_deadline_that_passes_begins_the_lock_delay_when_the_engine_sees_it) {
  mutex mine{a, "x", {.ttl = 10s, .lock_delay = 30s}};
  hold h = mine.acquire();
  engine.pause();
  engine.advance(10s);
  EXPECT_FALSE(h.valid());
  engine.resume();
  auto waiting = acquire_later(theirs);
  engine.advance(29s);
  EXPECT_FALSE(waiting.is_there());
  engine.advance(11s);
  EXPECT_TRUE(waiting.is_there());
}

TEST_F(terms_on_hand_time, a_waiter_of_the_same_client_bears_the_lock_delay_too) {
  mutex mine{a, "x", {.ttl = 10s, .lock_delay = 30s}};
  hold h = mine.acquire();
  engine.lose(h);
  auto again = acquire_later(mine);
  engine.advance(29s);
  EXPECT_FALSE(again.is_there());
  h = {};
  engine.advance(1ms);
  EXPECT_TRUE(again.is_there());
}

TEST_F(terms_on_hand_time, asked_for_it_is_told_once_and_the_next_owner_is_not) {
  mutex mine{a, "x", {.ttl = 10s}};
  hold h = mine.acquire();
  EXPECT_EQ(b.ask("x", "please"), 1U);
  engine.advance(1ms);
  EXPECT_TRUE(h.revoked().stop_requested());
  h.release();
  hold next = mine.acquire();
  engine.advance(1s);
  EXPECT_FALSE(next.revoked().stop_requested());
}

}  // namespace
}  // namespace tyer::testing_api
