// Names of nodes as the real libraries make them.
#include "engines/zookeeper/layout.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper {

namespace {

const id someone = id::from("\xb9\xa3\xe4\x0a\xfb\xad\x4a\xc2\xb1\x6a\xff\x05\xa7\xa6\xbe\x14");

layout of(protocol p, std::string base = "", std::string prefix = "") { return {p, std::move(base), std::move(prefix)}; }

}  // namespace

TEST(zookeeper_layout, reads_what_curator_writes_and_writes_the_same) {
  const auto l = of(protocol::curator);
  const auto c = l.read("_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-lock-0000000012");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->number, 12);
  EXPECT_EQ(c->how, mode::exclusive);
  EXPECT_EQ(c->who, someone);
  EXPECT_EQ(l.new_node(mode::exclusive, someone, 1, 1), "_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-lock-");
  EXPECT_FALSE(l.has_shared());
}

TEST(zookeeper_layout, reads_what_go_writes_in_the_same_line) {
  const auto c = of(protocol::curator).read("_c_c57e1458ee8d5251e877d9f2cb0f68cc-lock-0000000003");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->number, 3);
  EXPECT_EQ(core::to_hex(c->who), "c57e1458ee8d5251e877d9f2cb0f68cc");
}

TEST(zookeeper_layout, readers_and_writers_of_curator) {
  const auto l = of(protocol::curator_rw);
  const auto writer = l.read("_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-__WRIT__0000000000");
  const auto reader = l.read("_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be15-__READ__0000000001");
  ASSERT_TRUE(writer && reader);
  EXPECT_EQ(writer->how, mode::exclusive);
  EXPECT_EQ(reader->how, mode::shared);
  EXPECT_EQ(l.new_node(mode::shared, someone, 1, 1), "_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-__READ__");
  EXPECT_FALSE(l.read("_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-lock-0000000000")) << "another recipe";
}

TEST(zookeeper_layout, reads_what_kazoo_writes_and_writes_the_same) {
  const auto l = of(protocol::kazoo);
  const auto c = l.read("eae48af10f584d26970866bdf82d4d03__lock__0000000007");
  const auto r = l.read("eae48af10f584d26970866bdf82d4d04__rlock__0000000008");
  ASSERT_TRUE(c && r);
  EXPECT_EQ(c->how, mode::exclusive);
  EXPECT_EQ(r->how, mode::shared);
  EXPECT_EQ(core::to_hex(c->who), "eae48af10f584d26970866bdf82d4d03");
  EXPECT_EQ(l.new_node(mode::exclusive, someone, 1, 1), core::to_hex(someone) + "__lock__");
  EXPECT_EQ(l.new_node(mode::shared, someone, 1, 1), core::to_hex(someone) + "__rlock__");
}

TEST(zookeeper_layout, whoever_has_no_uuid_is_somebody_all_the_same) {
  const auto l = of(protocol::kazoo);
  const auto a = l.read("me__lock__0000000001"), b = l.read("you__lock__0000000002");
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->who, b->who);
  EXPECT_EQ(a->who, l.read("me__lock__0000000005")->who);
}

TEST(zookeeper_layout, what_is_no_contender_is_passed_over) {
  for (const auto p : {protocol::curator, protocol::curator_rw, protocol::kazoo}) {
    for (const char* node : {"", "0000000001", "lock", "leases", "-lock-000000001x", "__lock__12", "_c_-lock-"}) {
      EXPECT_FALSE(of(p).read(node)) << node;
    }
  }
}

TEST(zookeeper_layout, the_smallest_number_holds_whoever_wrote_it) {
  const auto all = of(protocol::curator)
                       .read({"_c_c57e1458ee8d5251e877d9f2cb0f68cc-lock-0000000004",
                              "_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-lock-0000000012"});
  EXPECT_EQ(all.holders(), 1U);
  EXPECT_EQ(all.all().front().number, 4);
  const auto readers = of(protocol::kazoo)
                           .read({"eae48af10f584d26970866bdf82d4d04__rlock__0000000008",
                                  "eae48af10f584d26970866bdf82d4d05__rlock__0000000009",
                                  "eae48af10f584d26970866bdf82d4d06__lock__0000000010"});
  EXPECT_EQ(readers.holders(), 2U);
}

TEST(zookeeper_layout, a_path_is_the_name_below_the_base_and_back) {
  const auto theirs = of(protocol::curator, "/shop", "locks/");
  EXPECT_EQ(theirs.path_of("order/1"), "/shop/locks/order/1");
  EXPECT_EQ(theirs.name_of("/shop/locks/order/1"), "order/1");
  EXPECT_FALSE(theirs.name_of("/shopping/locks/x"));
  EXPECT_FALSE(theirs.name_of("/shop"));
  const auto root = of(protocol::kazoo);
  EXPECT_EQ(root.path_of("a"), "/a");
  EXPECT_EQ(root.name_of("/a"), "a");
  const auto own = of(protocol::own, "/tyer", "tyer:");
  EXPECT_EQ(own.path_of("order/1"), "/tyer/q/tyer%3Aorder%2F1");
  EXPECT_EQ(own.name_of("/tyer/q/tyer%3Aorder%2F1"), "order/1");
  EXPECT_FALSE(own.name_of("/tyer/q/tyer%3Aorder%2F1/x"));
}

TEST(zookeeper_layout, a_name_that_is_no_path_is_not_taken) {
  const auto theirs = of(protocol::curator);
  EXPECT_TRUE(theirs.takes("order/1"));
  EXPECT_TRUE(theirs.takes("заказ/3"));
  using namespace std::string_view_literals;
  for (const auto name : {"a//b"sv, "/a"sv, "a/"sv, "a/../b"sv, "."sv, "a\0b"sv, "a\nb"sv, "zookeeper/x"sv, ""sv}) {
    EXPECT_FALSE(theirs.takes(name)) << name;
    EXPECT_TRUE(of(protocol::own, "/tyer").takes(name));
  }
}

TEST(zookeeper_layout, what_lies_in_a_node_is_words_for_people_there) {
  record r;
  r.owner = "host pid 7\x01\xff label";
  EXPECT_EQ(of(protocol::kazoo).write(r), "host pid 7 label");
  EXPECT_EQ(of(protocol::kazoo).read_data("192.168.0.1")->owner, "192.168.0.1");
}

}  // namespace tyer::zookeeper
