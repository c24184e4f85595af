// Names of nodes as the real libraries make them.
#include "engines/zookeeper/layout.hpp"

#include "engines/zookeeper/names.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper {

namespace {

const id someone = id::from("\xb9\xa3\xe4\x0a\xfb\xad\x4a\xc2\xb1\x6a\xff\x05\xa7\xa6\xbe\x14");

layout of(protocol p, std::string base = "", std::string prefix = "") {
  return {p, std::move(base), std::move(prefix)};
}

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
                       .line_of({"_c_c57e1458ee8d5251e877d9f2cb0f68cc-lock-0000000004",
                                 "_c_b9a3e40a-fbad-4ac2-b16a-ff05a7a6be14-lock-0000000012"});
  EXPECT_EQ(all.holders(), 1U);
  EXPECT_EQ(all.all().front().number, 4);
  const auto readers = of(protocol::kazoo)
                           .line_of({"eae48af10f584d26970866bdf82d4d04__rlock__0000000008",
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

TEST(zookeeper_layout, a_search_for_names_goes_where_they_may_lie) {
  const auto l = of(protocol::curator, "/locks", "p/");
  EXPECT_TRUE(l.leads_to("/locks/p", "order"));
  EXPECT_TRUE(l.leads_to("/locks/p/order", "order"));
  EXPECT_TRUE(l.leads_to("/locks/p/orders/eu", "order"));
  EXPECT_TRUE(l.leads_to("/locks/p/a", "a/b"));
  EXPECT_FALSE(l.leads_to("/locks/p/ab", "a/b"));
  EXPECT_FALSE(l.leads_to("/locks/q", ""));
  EXPECT_FALSE(l.leads_to("/locks/%zz", "")) << "nobody's name";
}

// Servers refuse empty steps, steps that mean another, control characters, what is no UTF-8, and characters beyond the first plane.
// It stood there first, for ever: whoever wanted the lock of the name above waited for a lock that was none of its kind.
TEST(zookeeper_layout, a_name_that_looks_like_a_node_stood_in_line_for_the_name_above_it) {
  const layout curator{protocol::curator, "/locks", ""}, kazoo{protocol::kazoo, "", "p/"},
      own{protocol::own, "/tyer", ""};
  EXPECT_TRUE(curator.is_in_the_way("order/old-lock-0000000007"));
  EXPECT_TRUE(curator.is_in_the_way("order/old-lock-0000000007/part"));
  EXPECT_TRUE(kazoo.is_in_the_way("a__lock__0000000000"));
  for (const auto* name : {"order", "order/old-lock-7", "order-lock-0000000007x", "order/-lock-/0000000007"}) {
    EXPECT_FALSE(curator.is_in_the_way(name)) << name;
    EXPECT_FALSE(own.is_in_the_way(name)) << name;
  }
  EXPECT_FALSE(own.is_in_the_way("order/old-lock-0000000007"));
}

TEST(zookeeper_layout, any_bytes_are_a_path_and_no_name_is_another) {
  using namespace std::string_view_literals;
  EXPECT_EQ(as_path("order/1"), "order/1");
  EXPECT_EQ(as_path("заказ/3"), "заказ/3");
  EXPECT_EQ(as_path("a//b"), "a/%2Fb");
  EXPECT_EQ(as_path("/a"), "%2Fa");
  EXPECT_EQ(as_path("a/"), "a%2F");
  EXPECT_EQ(as_path("a/../b"), "a/%2E./b");
  EXPECT_EQ(as_path("."), "%2E");
  EXPECT_EQ(as_path("a.b/..c"), "a.b/..c");
  EXPECT_EQ(as_path("a\0b"sv), "a%00b");
  EXPECT_EQ(as_path("100%"), "100%25");
  EXPECT_EQ(as_path("\xff"), "%FF");
  EXPECT_EQ(as_path("\xc2\x85"), "%C2%85") << "a control character";
  EXPECT_EQ(as_path("\xf0\x9f\x94\x92"), "%F0%9F%94%92");
  EXPECT_EQ(as_path("zookeeper/x"), "%7Aookeeper/x");
  EXPECT_EQ(as_path("a/zookeeper"), "a/zookeeper");
  for (const auto name : {"a//b"sv, "/a"sv, "//"sv, "a/"sv, "a/../b"sv, "."sv, "a\0b"sv, "a\nb"sv, "zookeeper/x"sv,
                          "%00"sv, "\xc3\x28"sv, "\x80"sv, "\xc0\xaf"sv}) {
    EXPECT_EQ(from_path(as_path(name)), name);
  }
  EXPECT_FALSE(from_path("a%2fb")) << "nobody is called so";
  EXPECT_FALSE(from_path("a%"));
}

TEST(zookeeper_layout, what_lies_in_a_node_is_words_for_people_and_then_a_record) {
  using namespace std::chrono_literals;
  record r;
  r.owner = "host pid 7\x01\xff label";
  r.ttl = 3s;
  r.times_asked = 2;
  r.asked = "please";
  const auto l = of(protocol::kazoo);
  EXPECT_TRUE(l.write(r).starts_with("host pid 7 label\n"));
  const auto back = l.read_data(l.write(r));
  EXPECT_EQ(back->owner, r.owner);
  EXPECT_EQ(back->ttl, 3s);
  EXPECT_EQ(back->asked, "please");
  EXPECT_FALSE(back->by_another);
  const auto theirs = l.read_data("192.168.0.1");
  EXPECT_EQ(theirs->owner, "192.168.0.1");
  EXPECT_TRUE(theirs->by_another);
}

TEST(zookeeper_layout, nothing_of_ours_lies_where_others_count_children) {
  for (const auto& path : of(protocol::curator, "/locks").always_there())
    EXPECT_FALSE(path.starts_with("/locks")) << path;
  EXPECT_EQ(of(protocol::own, "/a/b").always_there(), (std::vector<std::string>{"/a", "/a/b", "/a/b/q", "/a/b/s"}));
}

}  // namespace tyer::zookeeper
