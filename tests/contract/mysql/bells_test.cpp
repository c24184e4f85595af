// Wake-ups are rows with numbers, and a number is drawn before its row can be seen.
#include "contract/engine/harness.hpp"
#include "contract/mysql/raw.hpp"

namespace tyer::mysql {
namespace {

using contract::event;

std::string rings(const core::id& who) {
  return "INSERT INTO tyer_bell (client, rung, bell) VALUES (" + raw::bytes(who.view().substr(0, 8)) +
         ", TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)), " +
         raw::bytes(std::string{who.view()} + "0") + ")";
}

TEST(mysql_bells, one_whose_number_was_drawn_earlier_and_that_was_rung_later_was_deleted_unseen) {
  contract::client holder{"bells:"}, waiter{"bells:"};
  const auto early = waiter.waits("early"), late = waiter.waits("late");
  for (const auto* w : {&early, &late}) {
    holder.lock(holder.wants(w->name));
    waiter.enqueue(*w);
  }
  raw slow, quick;
  slow.run("START TRANSACTION");
  slow.run(rings(late.who));
  quick.run(rings(early.who));
  waiter.await(event::kind::wake, early.who);
  waiter.pump_until(
      [&] {
        return quick.number("SELECT COUNT(*) FROM tyer_bell WHERE client = " +
                            raw::bytes(early.who.view().substr(0, 8))) == 0;
      },
      "what was heard to be forgotten");
  EXPECT_FALSE(waiter.saw(event::kind::wake, late.who));
  slow.run("COMMIT");
  waiter.await(event::kind::wake, late.who);
}

// There was no table to prepare the statement for when it connected: the first bell had to wait for a second round trip, and whoever
// has released does not stay for that.
TEST(mysql_bells, the_first_of_a_client_that_had_made_the_tables_was_not_rung_with_its_release) {
  {
    raw outside;
    outside.run("DROP TABLE IF EXISTS tyer_lock, tyer_wait, tyer_session, tyer_bell, tyer_schema");
  }
  contract::client holder{"first:"}, waiter{"first:"};
  const auto first = holder.wants("n"), next = waiter.waits("n");
  holder.lock(first);
  waiter.enqueue(next);
  holder.release(first);
  waiter.await(event::kind::wake, next.who);
}

}  // namespace
}  // namespace tyer::mysql
