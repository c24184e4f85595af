// Locks of sessions on a real server: what the contract of the seam does not ask, since no other engine has it.
#include "contract/engine/harness.hpp"
#include "contract/sessions/database.hpp"

#include <cstdlib>
#include <memory>
#include <string>

namespace tyer::contract {
namespace {

// Clients that are made while one of these lives lock so.
class locking_by {
 public:
  explicit locking_by(const std::string& how) : was_(std::getenv("TYER_URI")) {
    ::setenv("TYER_URI", (was_ + "&lock=" + how).c_str(), 1);
  }
  ~locking_by() { ::setenv("TYER_URI", was_.c_str(), 1); }
  locking_by(const locking_by&) = delete;

 private:
  const std::string was_;
};

struct session_contract : ::testing::Test {
  static std::unique_ptr<client> make(const std::string& prefix, const std::string& how = "session") {
    const locking_by by{how};
    return std::make_unique<client>(prefix);
  }
  static std::string fresh_prefix() {
    static core::random_ids ids;
    return "sessions:" + core::to_hex(ids.next()) + ":";
  }

  const std::string prefix = fresh_prefix();
  const std::unique_ptr<client> a = make(prefix), b = make(prefix);
};

TEST_F(session_contract, a_hold_that_is_kept_outlives_its_ttl_by_far) {
  auto w = a->wants("order");
  w.ttl = 3s;
  a->lock(w);
  const auto end = a->now() + 3 * w.ttl;
  while (a->now() < end) {
    ASSERT_EQ(a->keep(w, fate::holding, w.ttl), fate::holding);
    ASSERT_FALSE(b->could_lock(b->wants("order")));
    a->pump_until(a->now() + w.ttl / 6);
  }
  EXPECT_EQ(a->release(w), fate::holding);
  EXPECT_TRUE(b->could_lock(b->wants("order")));
}

TEST_F(session_contract, a_session_that_is_silent_is_ended_within_its_ttl) {
  auto w = a->wants("order");
  w.ttl = 2s;
  const auto before = a->now();
  a->lock(w);
  const auto free = b->poll(b->wants("order"));
  EXPECT_GE(free, before + w.ttl);
  EXPECT_LT(free, before + w.ttl + 2s);
}

TEST_F(session_contract, a_hold_of_a_client_that_is_gone_is_free_at_once) {
  auto mortal = make(prefix);
  mortal->lock(mortal->wants("order"));
  mortal.reset();
  const auto before = b->now();
  b->lock_freed(b->wants("order"));
  EXPECT_LT(b->now(), before + 5s) << "its ttl is a minute";
}

TEST_F(session_contract, whose_session_was_ended_is_told_that_its_holds_are_gone) {
  const auto one = a->wants("one"), two = a->wants("two");
  a->lock(one);
  a->lock(two);
  beside::end_session_of(prefix + "one");
  a->await(event::kind::gone, one.who);
  a->await(event::kind::gone, two.who);
  EXPECT_EQ(a->keep(one, fate::holding, 60s), fate::gone);
  b->lock_freed(b->wants("two"));
  a->pump_until([&] { return a->count(event::kind::up) > 1; }, "up() once more");
  a->lock(a->wants("one"));
}

TEST_F(session_contract, a_token_is_larger_after_the_session_of_the_last_holder_was_ended) {
  const auto before = a->lock(a->wants("order")).part;
  beside::end_session_of(prefix + "order");
  EXPECT_GT(b->lock_freed(b->wants("order")).part, before);
}

TEST_F(session_contract, names_go_on_counting_when_rows_are_given_up_for_sessions) {
  const auto rows = make(prefix, "row");
  const auto w = rows->wants("order");
  const auto before = rows->lock(w).part;
  EXPECT_EQ(rows->release(w), fate::holding);
  EXPECT_GT(a->lock(a->wants("order")).part, before);
}

// Each would lock what the other does not see.
TEST_F(session_contract, rows_and_sessions_do_not_share_a_name) {
  const auto rows = make(prefix, "row");
  const auto w = a->wants("by session");
  a->lock(w);
  const auto no = rows->find_failure(rows->wants("by session"));
  EXPECT_EQ(no.kind, why::refused);
  EXPECT_NE(no.words.find("?lock=session"), std::string::npos) << no.words;
  EXPECT_EQ(a->release(w), fate::holding);
  EXPECT_EQ(rows->find_failure(rows->wants("by session")).kind, why::refused);

  rows->lock(rows->wants("by row"));
  EXPECT_EQ(a->find_failure(a->wants("by row")).kind, why::refused)
      << "it would wait, and nobody who locks so would look";
  EXPECT_TRUE(rows->of_name("by session").empty());
}

// Its holder may believe in it until then, if it has not heard yet that the server was started anew.
TEST_F(session_contract, a_lock_that_a_restart_of_the_server_took_from_its_holder_is_not_given_before_the_ttl_is_over) {
  const auto w = a->wants("order");
  a->lock(w);
  EXPECT_EQ(a->release(w), fate::holding);
  const auto before = b->now();
  beside::grant_was_before_the_start(prefix + "order", 3s);
  EXPECT_FALSE(b->could_lock(b->wants("order")));
  EXPECT_GT(b->poll(b->wants("order")), before + 1500ms) << "a start is known to the second";
}

// The connection that holds waits for no lock; for a row only as long as it was told.
TEST_F(session_contract, a_row_that_somebody_else_has_locked_costs_no_hold) {
  auto held = a->wants("held"), wanted = a->wants("order");
  held.ttl = 10s;
  a->lock(held);
  const auto first = b->wants("order");
  b->lock(first);
  b->release(first);
  const auto meanwhile = beside::lock_row(prefix + "order", 3s);
  const auto o = a->acquire(wanted);
  EXPECT_TRUE(std::holds_alternative<engine::failure>(o.result)) << describe(o);
  EXPECT_EQ(a->keep(held, fate::holding, 10s), fate::holding);
  EXPECT_FALSE(b->could_lock(b->wants("held")));
  a->release(wanted);
  const auto end = a->now() + patience;
  for (bool free = false; !free;) {  // nobody has it once the row is free
    ASSERT_LT(a->now(), end);
    const auto w = a->wants("order");
    free = granted_in(a->acquire(w)) != nullptr;
    a->release(w);
  }
}

}  // namespace
}  // namespace tyer::contract
