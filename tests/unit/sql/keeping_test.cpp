// What a keep() says and answers, also of several while some of them take long, or go wrong.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;
using seam::kept;

struct sql_keeping : scripted_database {
  static constexpr std::int64_t until = now + 4'000'000;

  void SetUp() override {
    scripted_database::SetUp();
    acquire(plain, mode::exclusive);
    answer("take", {one_number(7)});
    acquire(shared, mode::shared);
    answer("read", {rows_of({all_row(0, now)})});
    state = std::get<std::string>(sent("create").at(1).values.at(8));
    answer("create", {{}, one_number(0)});
  }

  struct heard {
    int times = 0;
    kit::result<kept> said;
    time_point sent{};
    const std::vector<fate>& fates() const { return std::get<kept>(said).fates; }
  };
  std::shared_ptr<heard> keep() { return keep({plain, shared}); }
  std::shared_ptr<heard> keep(std::vector<seam::id> who, milliseconds for_so_long = ttl) {
    auto h = std::make_shared<heard>();
    std::vector<seam::target> all;
    for (const auto& one : who) all.push_back({one, "n"});
    step([&] {
      it->keep(all, fate::holding, for_so_long, [h](seam::outcome<kept>&& o) {
        ++h->times;
        h->said = std::move(o.result);
        h->sent = o.sent;
      });
    });
    return h;
  }
  answered extended() const { return extended(plain); }
  static answered extended(const seam::id& who) { return rows_of({{bytes_cell(who.view())}}); }
  // A plain hold that was kept twice: from then on it lives by a session of that length.
  seam::id lives_by_session_of(milliseconds length) {
    const auto who = ids.next();
    acquire(who, mode::exclusive);
    answer("take", {one_number(7)});
    keep({who}, length);
    if (how_often("begin_session") > 0) answer("begin_session", {answered{}});
    answer("extend", {extended(who)});
    keep({who}, length);
    if (first_session == 0) first_session = std::get<std::int64_t>(sent("extend").at(0).values.at(0));
    if (how_often("extend") > 0) answer("extend", {extended(who)});
    return who;
  }

  const seam::id plain = ids.next(), shared = ids.next();
  std::string state;  // of the shared hold, as it was written
  std::int64_t first_session = 0;
};

TEST_F(sql_keeping, one_that_took_long_kept_the_others_waiting_until_their_leases_were_over) {
  const auto h = keep();
  answer("extend", {extended()});
  EXPECT_EQ(h->times, 0) << "there is still time";
  pass(ttl / 6);
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

// It is asked for once, and who asks again meanwhile is told how it ends.
TEST_F(sql_keeping, what_came_just_after_it_was_asked_for_again_was_told_as_unknown) {
  keep();
  answer("begin_session", {answered{}});
  answer("extend", {extended()});
  pass(ttl / 6);
  const auto again = keep();
  EXPECT_EQ(how_often("extend_seat"), 1u) << "it is being kept already";
  answer("extend", {extended()});
  EXPECT_EQ(again->times, 0);
  answer("extend_seat", {one_number(until)});
  EXPECT_EQ(again->times, 0) << "that was asked for by another, and earlier";
  answer("extend_seat", {one_number(until + 1)});
  ASSERT_EQ(again->times, 1);
  EXPECT_EQ(again->fates(), (std::vector{fate::holding, fate::holding}));
}

TEST_F(sql_keeping, who_asks_meanwhile_is_told_that_it_is_gone) {
  keep();
  const auto again = keep();
  answer("extend_seat", {nothing()});
  answer("read", {rows_of({all_row(0, now + 1)})});
  answer("extend", {extended()});
  answer("extend", {extended()});
  ASSERT_EQ(again->times, 1);
  EXPECT_EQ(again->fates(), (std::vector{fate::holding, fate::gone}));
}

TEST_F(sql_keeping, who_asks_meanwhile_tries_for_itself_if_the_other_has_failed) {
  keep();
  const auto again = keep();
  answer("extend_seat", {nothing()});
  answer("read", {no()});
  answer("extend", {extended()});
  answer("extend", {extended()});
  EXPECT_EQ(again->times, 0);
  answer("extend_seat", {one_number(until)});
  ASSERT_EQ(again->times, 1);
  EXPECT_EQ(again->fates(), (std::vector{fate::holding, fate::holding}));
}

TEST_F(sql_keeping, nothing_is_told_while_nothing_is_known) {
  const auto h = keep();
  pass(ttl / 6);
  EXPECT_EQ(h->times, 0);
  answer("extend", {extended()});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

// The request time-out is 60 s here: all leases would have been over.
TEST_F(sql_keeping, a_connection_that_was_silent_cost_the_hold) {
  const auto h = keep({plain});
  const auto opened = w.opened;
  pass(ttl / 3 - 1ms);
  EXPECT_EQ(h->times, 0);
  pass(1ms);
  ASSERT_EQ(h->times, 1);
  ASSERT_TRUE(std::holds_alternative<failure>(h->said));
  EXPECT_EQ(std::get<failure>(h->said).kind, why::unknown);
  pass(kit::reconnect::pause_least);
  EXPECT_EQ(w.opened, opened + 1);
}

TEST_F(sql_keeping, a_session_whose_renewal_was_not_answered_cost_its_holds) {
  keep({plain});
  answer("begin_session", {answered{}});
  answer("extend", {extended()});
  keep({plain});
  answer("extend", {extended()});
  pass(ttl / 6 + 1ms);
  const auto h = keep({plain});
  EXPECT_EQ(how_often("renew_session"), 1u);
  const auto opened = w.opened;
  pass(ttl / 3);
  EXPECT_EQ(h->times, 1);
  pass(kit::reconnect::pause_least);
  EXPECT_EQ(w.opened, opened + 1);
}

TEST_F(sql_keeping, one_that_was_refused_spoiled_what_was_known_of_the_others) {
  const auto h = keep();
  answer("extend_seat", {nothing()});
  answer("read", {no()});
  EXPECT_EQ(h->times, 0);
  answer("extend", {extended()});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

TEST_F(sql_keeping, if_nothing_is_known_it_is_told_why) {
  const auto h = keep();
  answer("extend_seat", {no()});
  answer("read", {no()});
  answer("extend", {no()});
  ASSERT_EQ(h->times, 1);
  ASSERT_TRUE(std::holds_alternative<failure>(h->said));
  EXPECT_EQ(std::get<failure>(h->said).kind, why::refused);
}

// --- sessions ---

// With four sessions at hand a hold lived by any that was long enough, and its lock was free only when that was over.
TEST_F(sql_keeping, a_short_hold_of_one_that_died_stayed_for_the_ttl_of_its_other_locks) {
  for (int n = 1; n <= 20; ++n) lives_by_session_of(n * 100s);
  keep({plain}, 2s);
  EXPECT_TRUE(std::holds_alternative<null>(sent("extend").at(0).values.at(0))) << "by its own time, until there is one";
  ASSERT_EQ(how_often("begin_session"), 1u);
  EXPECT_EQ(std::get<std::int64_t>(sent("begin_session").at(0).values.at(1)), micros(2s));
}

// Its release was one of another's hold then, and every hold of that session had to show that it stands.
TEST_F(sql_keeping, a_session_was_not_known_again_after_many_others_although_a_hold_lived_by_it) {
  const auto first = lives_by_session_of(1h);
  for (int n = 1; n <= 100; ++n) lives_by_session_of(1h + n * 1s);
  step([&] { it->release({first, "n"}, true, [](seam::outcome<fate>&&) {}); });
  const auto own = std::get<number_list>(sent("give_back").at(0).values.at(2));
  EXPECT_NE(std::ranges::find(own, first_session), own.end());
}

// A thousand holds are one request, and each of a hundred of these was a renewal: a hundred a round, for 100,000 holds.
TEST_F(sql_keeping, holds_that_fell_due_one_after_the_other_were_a_renewal_each) {
  lives_by_session_of(ttl);
  const auto who = lives_by_session_of(ttl);
  const auto granted = clock.now();
  pass(ttl / 6);
  const auto h = keep({who});
  EXPECT_EQ(how_often("renew_session"), 0u);
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->sent, granted);
  pass(1ms);
  const auto next = keep({who});
  EXPECT_EQ(how_often("renew_session"), 1u);
  EXPECT_EQ(next->times, 0) << "what is older than that proves too little";
}

TEST_F(sql_keeping, whoever_wants_to_know_now_is_told_by_a_renewal_that_left_then) {
  const auto who = lives_by_session_of(ttl);
  pass(1ms);
  step([&] { it->confirm({who, "n"}, ttl, [](seam::outcome<kept>&&) {}); });
  EXPECT_EQ(how_often("renew_session"), 1u);
}

TEST_F(sql_keeping, of_one_that_is_said_to_be_gone_no_renewal_of_its_session_is_proof) {
  const auto who = lives_by_session_of(ttl);
  const auto gone = static_cast<char>('0' + static_cast<int>(kit::notice::kind::gone));
  step([&] { w.to->on_notice(std::string{who.view()} + gone); });
  const auto h = keep({who});
  EXPECT_EQ(h->times, 0);
  EXPECT_EQ(how_often("extend"), 1u) << "it has to show that it stands";
}

// --- a hold that is not plain ---

// Others that write to the name made the write fail again and again, until the lease was over.
TEST_F(sql_keeping, the_first_keep_of_a_shared_hold_was_a_read_and_a_write_and_came_too_late) {
  const auto h = keep({shared});
  EXPECT_EQ(how_often("read"), 0u);
  const auto values = sent("extend_seat").at(0).values;
  const auto head = std::get<std::string>(values.at(1));
  EXPECT_NE(state.find(head), state.npos) << "as it lies there";
  EXPECT_EQ(std::get<std::int64_t>(values.at(2)), now + micros(ttl)) << "until when it has been";
  EXPECT_EQ(std::get<std::string>(values.at(3)), std::string(8, '\0')) << "there is no session yet";
  answer("extend_seat", {one_number(until)});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), std::vector{fate::holding});
}

TEST_F(sql_keeping, as_soon_as_there_is_a_session_it_lives_by_that_and_costs_nothing_more) {
  keep({shared});
  answer("begin_session", {answered{}});
  answer("extend_seat", {one_number(until)});
  keep({shared});
  const auto values = sent("extend_seat").at(0).values;
  EXPECT_EQ(std::get<std::int64_t>(values.at(2)), until) << "as the last keep has left it";
  EXPECT_NE(std::get<std::string>(values.at(3)), std::string(8, '\0'));
  answer("extend_seat", {one_number(until + 1)});
  pass(ttl / 6 + 1ms);
  const auto third = keep({shared});
  EXPECT_EQ(how_often("extend_seat"), 0u);
  answer("renew_session", {one_number(0)});
  ASSERT_EQ(third->times, 1);
  EXPECT_EQ(third->fates(), std::vector{fate::holding});
}

TEST_F(sql_keeping, what_a_session_began_with_is_no_news) {
  keep({shared});
  answer("begin_session", {one_number(7)});
  answer("extend_seat", {one_number(until)});
  keep({shared});
  answer("extend_seat", {one_number(until + 1)});
  pass(ttl / 6 + 1ms);
  const auto third = keep({shared});
  answer("renew_session", {one_number(7)});
  ASSERT_EQ(third->times, 1);
  EXPECT_EQ(third->fates(), std::vector{fate::holding});
}

// Behind a pooler no connection breaks then: its session may be there, and the hold may not.
TEST_F(sql_keeping, the_session_of_another_server_spoke_for_holds_that_it_did_not_know) {
  keep({shared});
  answer("begin_session", {one_number(7)});
  answer("extend_seat", {one_number(until)});
  keep({shared});
  answer("extend_seat", {one_number(until + 1)});
  pass(ttl / 6 + 1ms);
  const auto third = keep({shared});
  answer("renew_session", {one_number(8)});
  EXPECT_EQ(third->times, 0);
  EXPECT_EQ(how_often("extend_seat"), 1u) << "how it lies there tells";
}

// Its answer came after the release was sent, and of that none came: each renewal of the session said that it is held.
TEST_F(sql_keeping, a_keep_that_was_answered_after_a_release_spoke_for_a_hold_that_was_perhaps_gone) {
  keep({shared});
  answer("begin_session", {answered{}});
  answer("extend_seat", {one_number(until)});
  keep({shared});
  step([&] { it->release({shared, "n"}, true, [](seam::outcome<fate>&&) {}); });
  answer("extend_seat", {one_number(until + 1)});
  pass(ttl / 6 + 1ms);
  keep({shared});
  EXPECT_EQ(how_often("renew_session"), 0u);
  EXPECT_EQ(how_often("extend_seat"), 1u) << "how it lies there tells";
}

TEST_F(sql_keeping, what_is_not_as_it_was_is_read_and_lives_by_a_session_that_came_meanwhile) {
  const auto h = keep({shared});
  answer("extend_seat", {nothing()});
  answer("begin_session", {answered{}});
  answer("read", {rows_of({name_row(1, state), all_row(0, now + 1)})});
  const auto seats = read_seats(std::get<std::string>(sent("write").at(0).values.at(8)));
  ASSERT_TRUE(seats);
  EXPECT_NE(seats->at(0).lease, 0);
  answer("write", {one_number(0)});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), std::vector{fate::holding});
  pass(ttl / 6 + 1ms);
  keep({shared});
  EXPECT_EQ(how_often("renew_session"), 1u);
}

TEST_F(sql_keeping, a_statement_that_failed_says_nothing_of_the_hold) {
  const auto h = keep({shared});
  answer("extend_seat", {no()});
  EXPECT_EQ(h->times, 0);
  answer("read", {rows_of({name_row(1, state), all_row(0, now + 1)})});
  answer("write", {one_number(0)});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), std::vector{fate::holding});
}

// Each read and wrote by itself, and of those that wrote at once one was done.
TEST_F(sql_keeping, several_holds_of_one_name_were_in_each_others_way) {
  const auto other = ids.next();
  acquire(other, mode::shared);
  answer("read", {rows_of({name_row(1, state), all_row(0, now)})});
  state = std::get<std::string>(sent("write").at(0).values.at(8));
  answer("write", {one_number(0)});
  const auto h = keep({shared, other});
  EXPECT_EQ(sent("extend_seat").size(), 2u) << "they leave together";
  answer("extend_seat", {nothing(), nothing()});
  EXPECT_EQ(how_often("read"), 1u);
  answer("read", {rows_of({name_row(2, state), all_row(0, now + 1)})});
  EXPECT_EQ(how_often("write"), 1u);
  answer("write", {one_number(0)});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::holding}));
}

TEST_F(sql_keeping, a_hold_that_lives_by_another_clients_session_is_not_moved_to_our_own) {
  auto seats = *read_seats(state);
  seats.at(0).lease = 4711;
  keep({shared});
  answer("begin_session", {answered{}});
  answer("extend_seat", {nothing()});
  answer("read", {rows_of({name_row(1, write_seats(seats)), all_row(0, now + 1)})});
  EXPECT_EQ(read_seats(std::get<std::string>(sent("write").at(0).values.at(8)))->at(0).lease, 4711);
  answer("write", {one_number(0)});
  keep({shared});
  EXPECT_EQ(how_often("extend_seat"), 0u) << "that would be to our own";
  EXPECT_EQ(how_often("read"), 1u);
}

}  // namespace
}  // namespace tyer::sql
