// Opening, and what outlives a client.
#include "contract/engine/harness.hpp"

#include <algorithm>

namespace tyer::contract {

using lifetime_contract = engine_contract;

TEST_F(lifetime_contract, up_names_the_server) {
  const auto is_up = [](const event& e) { return e.what == event::kind::up; };
  const auto& all = a.seen_events();
  const auto up = std::ranges::find_if(all, is_up);
  ASSERT_NE(up, all.end());
  EXPECT_FALSE(up->text.empty());
}

TEST_F(lifetime_contract, a_hold_outlives_the_client_that_took_it) {
  auto dying = another();
  dying->lock(dying->wants("order"));
  dying.reset();
  EXPECT_FALSE(b.could_lock(b.wants("order")));
}

TEST_F(lifetime_contract, ids_are_unknown_to_others_until_used) {
  const auto w = a.waits("order");
  EXPECT_EQ(b.keep(w, fate::waiting, 20s), fate::gone);
  a.lock(w);
  EXPECT_EQ(b.keep(w, fate::holding, 20s), fate::holding);  // whoever knows the id is its holder
}

}  // namespace tyer::contract
