#include "engines/etcd/go/layout.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tyer::etcd;
using go::layout;

pb::KeyValue& add(pb::RangeResponse& r, const std::string& key, std::int64_t created, std::int64_t lease) {
  auto& kv = *r.add_kvs();
  kv.set_key(key);
  kv.set_create_revision(created);
  kv.set_mod_revision(created);
  kv.set_lease(lease);
  return kv;
}

TEST(go_layout, a_key_is_the_name_and_the_lease_in_hex_as_go_prints_it) {
  const layout l{""};
  EXPECT_EQ(l.key("order/1", 0x694d9bd16e4ff00d), "order/1/694d9bd16e4ff00d");
  EXPECT_EQ(l.key("order", 10), "order/a");
  EXPECT_EQ(l.key("order", -10), "order/-a");
  EXPECT_EQ(layout{"shop/"}.key("order", 10), "shop/order/a");
}

TEST(go_layout, a_key_belongs_to_the_name_before_its_last_slash) {
  const layout l{"shop/"};
  EXPECT_EQ(l.name_of("shop/order/a"), "order");
  EXPECT_EQ(l.name_of("shop/order/eu/-7f"), "order/eu");
  EXPECT_EQ(l.name_of("shop/order//a"), "order/");
  for (const char* not_one : {"order/a", "shop/a", "shop//a", "shop/order/", "shop/order/0a", "shop/order/A",
                              "shop/order/config", "shop/order/12345678901234567", "shop/order/-"}) {
    EXPECT_FALSE(l.name_of(not_one)) << not_one;
  }
}

TEST(go_layout, all_keys_of_a_name_are_in_its_room) {
  const layout l{""};
  const auto room = l.room("order");
  for (const std::int64_t lease : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{0x7fffffffffffffff}}) {
    EXPECT_LE(room.from, l.key("order", lease));
    EXPECT_LT(l.key("order", lease), room.to);
  }
  EXPECT_FALSE(room.from <= l.key("order2", 10) && l.key("order2", 10) < room.to);
}

TEST(go_layout, without_a_prefix_all_keys_there_are) {
  const auto all = layout{""}.beginning_with("");
  EXPECT_EQ(all.from, std::string(1, '\0'));
  EXPECT_EQ(all.to, std::string(1, '\0'));
  EXPECT_EQ(layout{""}.beginning_with("order/").to, "order0");
  EXPECT_EQ(layout{"a"}.beginning_with("\xff").to, "b");
}

TEST(go_layout, the_smallest_create_revision_is_first) {
  pb::RangeResponse r;
  add(r, "order/a", 7, 10);
  add(r, "order/b", 5, 11);
  add(r, "order/eu/c", 3, 12);  // of another name
  const auto read = go::read(layout{""}, "order", r);
  const auto& all = std::get<0>(read);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, "order/b");
  EXPECT_EQ(all[0].part(), 5u * places_per_revision);
  EXPECT_FALSE(all[0].record);
  EXPECT_TRUE(all[0].who);
  EXPECT_NE(all[0].who, all[1].who);
}

TEST(go_layout, whoever_is_of_tyer_has_the_id_it_wrote) {
  pb::Record record;
  record.set_id("0123456789abcdef");
  pb::RangeResponse r;
  add(r, "order/a", 7, 10).set_value(write_value(record));
  const auto read = go::read(layout{""}, "order", r);
  EXPECT_EQ(std::get<0>(read).front().who, id::from("0123456789abcdef"));
}

TEST(go_layout, what_no_lease_will_end_is_a_conflict) {
  pb::RangeResponse r;
  add(r, "order/42", 7, 0);
  const auto read = go::read(layout{""}, "order", r);
  ASSERT_TRUE(std::holds_alternative<failure>(read));
  EXPECT_EQ(std::get<failure>(read).kind, why::name_conflict);
}

}  // namespace
