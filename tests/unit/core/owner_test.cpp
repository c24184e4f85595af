#include "core/owner.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::core {
namespace {

using namespace std::string_literals;

constexpr wall_time since{std::chrono::milliseconds{1763240000123}};

TEST(owner, is_read_as_it_was_written) {
  const auto text = owner_text(owner_identity("shop-7", 812, "shop"), "/src/order.cc", 87, since, "10.0.0.7:8080");
  EXPECT_EQ(text, "shop-7 pid 812 shop order.cc:87 @1763240000123\n10.0.0.7:8080");
  const auto o = read_owner(text);
  ASSERT_TRUE(o);
  EXPECT_EQ(o->host, "shop-7");
  EXPECT_EQ(o->pid, 812u);
  EXPECT_EQ(o->label, "shop");
  EXPECT_EQ(o->site, "order.cc:87");
  EXPECT_EQ(o->note, "10.0.0.7:8080");
  EXPECT_EQ(o->since, since);
}

// Of a program whose source nobody who looks at its locks has.
TEST(owner, who_gives_no_place_in_a_source_file_has_none) {
  for (const auto& label : {"tyer run"s, "run :0"s, ""s}) {
    const auto text = owner_text(owner_identity("h", 1, label), "", 0, since, "note");
    const auto o = read_owner(text);
    ASSERT_TRUE(o) << text;
    EXPECT_EQ(o->label, label);
    EXPECT_EQ(o->site, "");
    EXPECT_EQ(o->note, "note");
    EXPECT_EQ(o->since, since);
    EXPECT_EQ(owner_in_short(text), "h pid 1 " + label);
  }
  EXPECT_EQ(owner_in_short("h pid 1 l f.cc:0 @5"), "h pid 1 l f.cc:0");
}

TEST(owner, a_label_is_any_text) {
  for (const auto& label : {"two words"s, "x pid 9 y:1"s, "@17"s, " @17"s, ""s, "a\nb"s}) {
    const auto text = owner_text(owner_identity("h", 1, label), "f.cc", 2, since, "");
    const auto o = read_owner(text);
    ASSERT_TRUE(o) << label;
    EXPECT_EQ(o->host, "h") << label;
    EXPECT_EQ(o->pid, 1u) << label;
    EXPECT_EQ(o->label, label == "a\nb" ? "a b" : label) << label;
    EXPECT_EQ(o->site, "f.cc:2") << label;
    EXPECT_EQ(o->since, since) << label;
    EXPECT_EQ(o->note, "") << label;
  }
}

TEST(owner, a_note_is_any_text) {
  const auto note = "two\nlines\n pid 9 @5, \xff and \0 nothing"s;
  const auto text = owner_text("h pid 1 l", "f.cc", 2, since, note);
  const auto o = read_owner(text);
  ASSERT_TRUE(o);
  EXPECT_EQ(o->note, note);
}

TEST(owner, one_without_a_time_is_an_owner_too) {
  const auto o = read_owner("shop-7 pid 812 shop order.cc:87\nnote");
  ASSERT_TRUE(o);
  EXPECT_EQ(o->label, "shop");
  EXPECT_EQ(o->site, "order.cc:87");
  EXPECT_EQ(o->note, "note");
  EXPECT_FALSE(o->since);
}

TEST(owner, a_time_that_is_none_is_not_taken_for_one) {
  for (const auto* time : {"@-1", "@9999999999999999", "@99999999999999999999999", "@", "@1x", "@0x10"}) {
    const auto text = "h pid 1 l f.cc:2 "s + time;
    const auto o = read_owner(text);
    EXPECT_TRUE(!o || !o->since) << time;
  }
}

TEST(owner, what_others_have_written_is_no_owner) {
  for (const auto* text : {"", "\n", "8f0c2f4e:1", "key /locks/a/1", " pid 1 l f.cc:2", "h pid x l f.cc:2", "h pid 1",
                           "h pid 1 l", "h pid 1 l f.cc", "h pid 1 l :2", "h pid 99999999999999999999 l f.cc:2"}) {
    EXPECT_FALSE(read_owner(text)) << text;
  }
}

TEST(owner, in_short_it_has_neither_time_nor_note) {
  EXPECT_EQ(owner_in_short("shop-7 pid 812 shop order.cc:87 @1763240000123\nnote"), "shop-7 pid 812 shop order.cc:87");
  EXPECT_EQ(owner_in_short("somebody"), "somebody");
}

TEST(owner, a_long_label_is_cut) {
  EXPECT_EQ(owner_identity("h", 1, std::string(1000, 'x')), "h pid 1 " + std::string(128, 'x'));
}

}  // namespace
}  // namespace tyer::core
