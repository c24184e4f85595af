#include "engines/zookeeper/wire/codec.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper::wire {

namespace {

std::string stat_of(std::int64_t created, std::int64_t owner) {
  writer w;
  w.big(created).big(created + 1).big(0).big(0).number(2).number(3).number(4).big(owner).number(5).number(6).big(7);
  return w.take();
}

}  // namespace

TEST(zookeeper_codec, numbers_are_big_endian) {
  EXPECT_EQ(writer{}.number(0x01020304).big(-2).take(), std::string("\1\2\3\4\xff\xff\xff\xff\xff\xff\xff\xfe", 12));
  reader r{std::string_view{"\1\2\3\4\xff\xff\xff\xff\xff\xff\xff\xfe", 12}};
  EXPECT_EQ(r.number(), 0x01020304);
  EXPECT_EQ(r.big(), -2);
  EXPECT_TRUE(r.good());
}

TEST(zookeeper_codec, what_is_cut_off_at_any_byte_is_no_answer) {
  const auto created = writer{}.text("/a/b").take() + stat_of(9, 8);
  ASSERT_TRUE(read_created(created));
  EXPECT_EQ(read_created(created)->is.owner, 8);
  const auto children = writer{}.number(2).text("x").text("yy").take() + stat_of(1, 0);
  ASSERT_TRUE(read_children(children));
  EXPECT_EQ(read_children(children)->names, (std::vector<std::string>{"x", "yy"}));
  for (std::size_t n = 0; n < created.size(); ++n) EXPECT_FALSE(read_created(created.substr(0, n))) << n;
  for (std::size_t n = 0; n < children.size(); ++n) EXPECT_FALSE(read_children(children.substr(0, n))) << n;
}

TEST(zookeeper_codec, a_count_of_billions_takes_no_memory) {
  EXPECT_FALSE(read_children(writer{}.number(0x7fffffff).take()));
  EXPECT_FALSE(read_node(writer{}.number(0x7fffffff).take()));
  EXPECT_FALSE(read_node(writer{}.number(-7).take() + stat_of(1, 0)));
}

TEST(zookeeper_codec, null_data_is_empty) {
  const auto n = read_node(writer{}.number(-1).take() + stat_of(1, 0));
  ASSERT_TRUE(n);
  EXPECT_TRUE(n->data.empty());
}

TEST(zookeeper_codec, a_failed_multi_tells_of_every_step) {
  writer w;
  for (const auto e : {ok, no_node, runtime_inconsistency}) w.number(-1).flag(false).number(e).number(e);
  const auto all = read_multi(w.number(-1).flag(true).number(-1).take());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[1].error, no_node);
}

TEST(zookeeper_codec, a_multi_tells_paths_and_stats) {
  writer w;
  w.number(1).flag(false).number(0).text("/q/x-1");
  w.number(2).flag(false).number(0);
  w.number(5).flag(false).number(0).raw(stat_of(41, 0));
  const auto all = read_multi(w.number(-1).flag(true).number(-1).take());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().path, "/q/x-1");
  EXPECT_EQ(all->back().is.modified, 42);
}

TEST(zookeeper_codec, a_transaction_fails_for_the_first_reason_there_is) {
  const auto because = [](std::vector<std::int32_t> errors) {
    std::vector<step_result> all;
    for (const auto e : errors) all.push_back({e, {}, {}});
    return error_of(all);
  };
  EXPECT_EQ(because({ok, ok}), ok);
  EXPECT_EQ(because({ok, no_node, runtime_inconsistency}), no_node);
  EXPECT_EQ(because({runtime_inconsistency, bad_version}), bad_version);
  EXPECT_EQ(because({runtime_inconsistency, runtime_inconsistency}), runtime_inconsistency);
}

TEST(zookeeper_codec, packets_come_in_any_pieces) {
  const auto stream = writer{}.text("one").text("").text("three").take();
  framer f;
  std::vector<std::string> got;
  for (const char c : stream) {
    f.add({&c, 1});
    while (const auto p = f.next()) {
      got.emplace_back(*p);
      f.done();
    }
  }
  EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"}));
}

TEST(zookeeper_codec, a_length_that_cannot_be_breaks_the_stream) {
  for (const std::int32_t length : {-1, static_cast<std::int32_t>(answer_max) + 1}) {
    framer f;
    f.add(writer{}.number(length).take());
    EXPECT_FALSE(f.next());
    EXPECT_TRUE(f.broken());
  }
}

}  // namespace tyer::zookeeper::wire
