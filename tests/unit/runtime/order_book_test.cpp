#include "runtime/order_book.hpp"

#include "odd_site.hpp"
#include "runtime/order_text.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tyer::testing {
namespace {

using debug::order_options;
using detail::order_book;

std::string site(const std::source_location& at) { return "order_book_test.cpp:" + std::to_string(at.line()); }

std::source_location here(std::source_location at = std::source_location::current()) { return at; }

// Flow `who` takes the locks one after the other, as acquire() does, and gives all of them back.
void take_in_turn(order_book& b, order_book::flow who, const std::vector<std::string>& names) {
  std::vector<order_book::place> taken;
  for (const auto& n : names) {
    b.asks(who, n, here());
    taken.push_back(b.took(who, n, here()));
  }
  for (const auto p : taken) b.gave_back(who, p);
}

std::size_t reports(const order_book& b) { return b.reports().size(); }

TEST(order_book, an_order_and_its_reverse_are_told_with_four_call_sites) {
  std::vector<std::string> told;
  order_book b{{.on_reversed = [&](const debug::order_report& r) { told.push_back(r.text); }}};
  const auto a1 = here();
  const auto b1 = here();
  const auto first = b.took(1, "a", a1);
  b.asks(1, "b", b1);
  b.gave_back(1, first);
  EXPECT_TRUE(told.empty());
  const auto b2 = here();
  const auto a2 = here();
  b.took(2, "b", b2);
  b.asks(2, "a", a2);

  const auto all = b.reports();
  ASSERT_EQ(all.size(), 1U);
  const auto& steps = all[0].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].held, "b");
  EXPECT_EQ(steps[0].held_at, site(b2));
  EXPECT_EQ(steps[0].asked, "a");
  EXPECT_EQ(steps[0].asked_at, site(a2));
  EXPECT_EQ(steps[1].held, "a");
  EXPECT_EQ(steps[1].held_at, site(a1));
  EXPECT_EQ(steps[1].asked, "b");
  EXPECT_EQ(steps[1].asked_at, site(b1));
  const auto text = "locks are taken in orders that exclude each other: 'b' (" + site(b2) + "), then 'a' (" + site(a2) +
                    "); before that 'a' (" + site(a1) + "), then 'b' (" + site(b1) + ")";
  EXPECT_EQ(told, std::vector<std::string>{text});
}

TEST(order_book, one_order_is_no_news_however_often_it_is_seen) {
  order_book b{{}};
  for (order_book::flow who = 1; who < 10; ++who) take_in_turn(b, who, {"a", "b", "c"});
  EXPECT_EQ(reports(b), 0U);
  EXPECT_EQ(b.counts().pairs, 3U);
  EXPECT_EQ(b.counts().classes, 3U);
}

TEST(order_book, a_pair_is_told_once) {
  order_book b{{}};
  for (int i = 0; i < 5; ++i) {
    take_in_turn(b, 1, {"a", "b"});
    take_in_turn(b, 1, {"b", "a"});
  }
  EXPECT_EQ(reports(b), 1U);
  EXPECT_EQ(b.counts().reversed, 1U);
  take_in_turn(b, 1, {"c", "a"});
  take_in_turn(b, 1, {"a", "c"});
  EXPECT_EQ(reports(b), 2U) << "another pair";
}

TEST(order_book, a_circle_of_three_has_the_shortest_way_back) {
  order_book b{{}};
  take_in_turn(b, 1, {"a", "x"});
  take_in_turn(b, 1, {"x", "y"});
  take_in_turn(b, 1, {"a", "b"});
  take_in_turn(b, 1, {"y", "c"});
  take_in_turn(b, 1, {"b", "c"});
  EXPECT_EQ(reports(b), 0U);
  take_in_turn(b, 1, {"c", "a"});
  ASSERT_EQ(reports(b), 1U);
  const auto steps = b.reports()[0].steps;
  ASSERT_EQ(steps.size(), 3U);
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].asked, steps[(i + 1) % 3].held);
  EXPECT_EQ(steps[1].asked, "b");
}

// It was: its two locks had been told in a longer circle.
TEST(order_book, a_reverse_of_two_was_not_told_after_a_circle_of_three) {
  order_book b{{}};
  for (const auto& two : {"ab", "bc", "ca"}) take_in_turn(b, 1, {std::string{two[0]}, std::string{two[1]}});
  EXPECT_EQ(reports(b), 1U);
  take_in_turn(b, 1, {"a", "c"});
  ASSERT_EQ(reports(b), 2U);
  EXPECT_EQ(b.reports()[1].steps.size(), 2U);
}

// It was: as long as the circle, which a text that was loaded may make as long as there are classes.
TEST(order_book, the_report_of_a_long_circle_was_as_long) {
  order_book b{{}};
  constexpr int all = 100;
  for (int i = 0; i < all; ++i) take_in_turn(b, 1, {std::to_string(i), std::to_string((i + 1) % all)});
  ASSERT_EQ(reports(b), 1U);
  EXPECT_EQ(b.reports()[0].steps.size(), debug::order_report::steps_max);
  EXPECT_TRUE(b.reports()[0].text.ends_with("; and 84 more")) << b.reports()[0].text;
}

TEST(order_book, what_was_taken_by_a_try_is_held_and_was_not_asked_for) {
  order_book b{{}};
  const auto a = b.took(1, "a", here());
  const auto tried = b.took(1, "b", here());  // no asks()
  EXPECT_EQ(b.counts().pairs, 0U);
  b.asks(1, "c", here());
  EXPECT_EQ(b.counts().pairs, 2U) << "a then c, b then c";
  b.gave_back(1, a);
  b.gave_back(1, tried);
  take_in_turn(b, 1, {"b", "a"});
  EXPECT_EQ(reports(b), 0U);
}

TEST(order_book, what_was_given_back_is_not_held_in_whatever_order) {
  order_book b{{}};
  const auto a = b.took(1, "a", here()), also = b.took(1, "b", here());
  b.gave_back(1, a);
  b.gave_back(1, a);  // nothing more
  b.asks(1, "c", here());
  EXPECT_EQ(b.counts().pairs, 1U);
  b.gave_back(1, also);
  b.asks(1, "d", here());
  EXPECT_EQ(b.counts().pairs, 1U);
}

TEST(order_book, flows_are_told_apart) {
  order_book b{{}};
  b.took(1, "a", here());
  b.asks(2, "b", here());
  EXPECT_EQ(b.counts().pairs, 0U);
  EXPECT_NE(order_book::new_flow(), order_book::new_flow());
}

TEST(order_book, the_same_lock_again_is_not_a_matter_of_order) {
  order_book b{{}};
  take_in_turn(b, 1, {"a", "a"});
  EXPECT_EQ(b.counts().pairs, 0U);
}

std::string up_to_the_slash(std::string_view name) { return std::string{name.substr(0, name.find('/'))}; }

TEST(order_book, names_of_one_class_are_one_lock) {
  order_book b{{.class_of = up_to_the_slash}};
  take_in_turn(b, 1, {"order/1", "stock/1"});
  take_in_turn(b, 1, {"stock/2", "order/2"});
  ASSERT_EQ(reports(b), 1U);
  EXPECT_EQ(b.reports()[0].steps[0].held, "stock");
  EXPECT_EQ(b.counts().classes, 2U);
}

TEST(order_book, within_a_class_names_may_rise_or_fall_but_not_both) {
  order_book b{{.class_of = up_to_the_slash}};
  take_in_turn(b, 1, {"order/1", "order/2"});
  take_in_turn(b, 1, {"order/7", "order/9"});
  EXPECT_EQ(reports(b), 0U);
  take_in_turn(b, 1, {"order/5", "order/3"});
  ASSERT_EQ(reports(b), 1U);
  EXPECT_EQ(b.reports()[0].steps.size(), 2U);
  EXPECT_NE(b.reports()[0].text.find("of one class"), std::string::npos) << b.reports()[0].text;
  take_in_turn(b, 1, {"order/5", "stock", "order/6"});  // a pair of a class with itself is on no way to others
  EXPECT_EQ(reports(b), 2U);
}

TEST(order_book, beyond_its_bounds_it_counts_and_does_not_grow) {
  order_book few{{.classes_max = 2}};
  take_in_turn(few, 1, {"a", "b", "c"});
  EXPECT_EQ(few.counts().classes, 2U);
  EXPECT_EQ(few.counts().pairs, 1U);
  EXPECT_EQ(few.counts().left_out, 2U) << "a then c, b then c";
  take_in_turn(few, 1, {"b", "a"});
  EXPECT_EQ(reports(few), 1U) << "what is noted is compared";

  order_book short_of_pairs{{.pairs_max = 1}};
  take_in_turn(short_of_pairs, 1, {"a", "b"});
  take_in_turn(short_of_pairs, 1, {"b", "a"});
  EXPECT_EQ(short_of_pairs.counts().pairs, 1U);
  EXPECT_EQ(short_of_pairs.counts().left_out, 1U);
  EXPECT_EQ(reports(short_of_pairs), 0U);
}

TEST(order_book, of_one_flow_the_first_locks_count) {
  order_book b{{}};
  for (std::size_t i = 0; i < order_book::held_max; ++i) EXPECT_NE(b.took(1, std::to_string(i), here()), 0U);
  EXPECT_EQ(b.took(1, "more", here()), 0U);
  EXPECT_EQ(b.counts().left_out, 1U);
  b.gave_back(1, 0);
  b.asks(1, "next", here());
  EXPECT_EQ(b.counts().pairs, order_book::held_max);
}

TEST(order_book, a_lock_that_is_never_nested_takes_no_room) {
  order_book b{{}};
  for (int i = 0; i < 5000; ++i) take_in_turn(b, 1, {"order/" + std::to_string(i)});
  EXPECT_EQ(b.counts().classes, 0U);
  EXPECT_EQ(b.counts().left_out, 0U);
}

TEST(order_book, only_so_many_reports_are_kept_and_all_are_counted) {
  order_book b{{}};
  for (std::size_t i = 0; i < order_book::reports_max + 3; ++i) {
    const auto a = std::to_string(2 * i), other = std::to_string(2 * i + 1);
    take_in_turn(b, 1, {a, other});
    take_in_turn(b, 1, {other, a});
  }
  EXPECT_EQ(reports(b), order_book::reports_max);
  EXPECT_EQ(b.counts().reversed, order_book::reports_max + 3);
}

TEST(order_book, functions_of_the_user_may_throw_and_may_call_back) {
  order_book* self = nullptr;
  std::size_t told = 0;
  order_book b{{.class_of = [](std::string_view name) -> std::string {
                  if (name == "bad") throw std::runtime_error("no");
                  return std::string{name};
                },
                .on_reversed =
                    [&](const debug::order_report&) {
                      told += self->reports().size();
                      throw std::runtime_error("no");
                    }}};
  self = &b;
  take_in_turn(b, 1, {"bad"});
  EXPECT_EQ(b.counts().left_out, 2U);
  take_in_turn(b, 1, {"a", "b"});
  take_in_turn(b, 1, {"b", "a"});
  EXPECT_EQ(told, 1U);
}

TEST(order_book, threads_find_each_reversed_pair_once) {
  order_book b{{}};
  std::vector<std::thread> all;
  for (order_book::flow who = 1; who <= 4; ++who) {
    all.emplace_back([&b, who] {
      for (int i = 0; i < 200; ++i) {
        const auto a = "a" + std::to_string(i % 10), other = "b" + std::to_string(i % 10);
        take_in_turn(b, who, who % 2 == 0 ? std::vector{a, other} : std::vector{other, a});
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(b.counts().reversed, 10U);
  EXPECT_EQ(b.counts().pairs, 20U);
}

// ---- as text

void load(order_book& b, std::string_view text, std::string_view from = {}) { b.add(detail::read_order(text, from)); }

TEST(order_text, what_one_process_has_saved_is_compared_with_that_of_another) {
  order_book shop{{}}, office{{}}, both{{}};
  take_in_turn(shop, 1, {"a", "b"});
  take_in_turn(office, 1, {"b", "a"});
  load(both, order_text(shop.lines()), "shop");
  EXPECT_EQ(reports(both), 0U);
  load(both, order_text(office.lines()), "office");
  ASSERT_EQ(reports(both), 1U);
  const auto steps = both.reports()[0].steps;
  EXPECT_TRUE(steps[0].held_at.starts_with("office order_book_test.cpp:")) << steps[0].held_at;
  EXPECT_TRUE(steps[1].asked_at.starts_with("shop order_book_test.cpp:")) << steps[1].asked_at;
}

TEST(order_text, any_name_comes_back_as_it_was) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  order_book b{{}}, again{{}};
  take_in_turn(b, 1, {every, "x\ty\n", "\\x41", "A"});
  const auto text = order_text(b.lines());
  load(again, text);
  EXPECT_EQ(again.counts().pairs, 6U);
  const auto one = b.lines(), other = again.lines();
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(text.size(), order_text(other).size());
  for (const auto& l : one) {
    EXPECT_TRUE(std::ranges::any_of(other, [&](const auto& o) {
      return o.step.held == l.step.held && o.step.asked == l.step.asked && o.step.asked_at == l.step.asked_at;
    }));
  }
}

// A call site is as long as the name of its file.
TEST(order_text, with_a_very_long_call_site_was_saved_and_not_read_again) {
  order_book b{{}}, again{{}};
  const auto far = test::odd_site();
  b.took(1, "a", far);
  b.asks(1, "b", far);
  load(again, order_text(b.lines()));
  EXPECT_EQ(again.counts().pairs, 1U);
}

TEST(order_text, the_directions_within_a_class_are_kept) {
  order_book up{{.class_of = up_to_the_slash}}, down{{.class_of = up_to_the_slash}}, both{{}};
  take_in_turn(up, 1, {"o/1", "o/2"});
  take_in_turn(down, 1, {"o/2", "o/1"});
  load(both, order_text(up.lines()));
  load(both, order_text(up.lines()));
  EXPECT_EQ(reports(both), 0U);
  load(both, order_text(down.lines()));
  EXPECT_EQ(reports(both), 1U);
}

TEST(order_text, an_empty_order_is_a_text_too) {
  order_book b{{}};
  load(b, order_text(b.lines()));
  EXPECT_EQ(b.counts().pairs, 0U);
}

TEST(order_text, another_text_is_refused_and_adds_nothing) {
  const std::string heading = "tyer-order 1\n", good = "a\tx:1\tb\tx:2\n";
  const std::vector<std::string> bad{
      "",
      "hello",
      "tyer-order 2\n",
      heading + good + "a\n",
      heading + good + "a\tx:1\tb\tx:2\tup\n",  // of two classes
      heading + good + "a\tx:1\ta\tx:2\n",      // of one class, and no direction
      heading + good + "a\tx:1\ta\tx:2\tleft\n",
      heading + good + "a\\\tx:1\tb\tx:2\n",
      heading + good + "a\\x4\tx:1\tb\tx:2\n",
      heading + good + "a\\xzz\tx:1\tb\tx:2\n",
      heading + good + "a\x01\tx:1\tb\tx:2\n",
      heading + good + "\xff\tx:1\tb\tx:2\n",
      heading + good + std::string(1025, 'n') + "\tx:1\tb\tx:2\n",
      heading + good + "a\t" + std::string(513, 's') + "\tb\tx:2\n",
  };
  order_book b{{}};
  for (const auto& text : bad) {
    try {
      load(b, text);
      ADD_FAILURE() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_option) << text;
    }
  }
  EXPECT_EQ(b.counts().pairs, 0U);
  load(b, heading + good);
  EXPECT_EQ(b.counts().pairs, 1U);
}

}  // namespace
}  // namespace tyer::testing
