#include <tyer/fence.hpp>
#include <tyer/sql_fence.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace tyer {

namespace testing_api {
std::string made_without_exceptions();  // without_exceptions.cpp
}  // namespace testing_api

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();

hold_id id_of(char digit) { return hold_id::from(std::string(hold_id::length, digit)); }

struct offer {
  std::uint64_t token;
  bool shared;
};

bool show(fence_marks& m, const offer& o) {
  return m.enter_by_token(o.token, o.shared ? lock_mode::shared : lock_mode::exclusive);
}

bool conflict(const offer& a, const offer& b) { return !(a.shared && b.shared); }

// The promise, word for word: nothing passes once something larger that conflicts with it was let in. Equal tokens of
// different modes cannot both be honest, for a conversion gives a new one; the shared one is refused.
bool oracle_admits(const std::vector<offer>& let_in, const offer& o) {
  return std::none_of(let_in.begin(), let_in.end(), [&](const offer& seen) {
    return conflict(seen, o) && (seen.token > o.token || (o.shared && seen.token == o.token));
  });
}

// Every sequence of offers of four tokens in two modes, up to six in a row: 8^6 of them, walked as a tree.
void walk(const fence_marks& before, std::vector<offer>& let_in, int left, int& offers) {
  if (left == 0) return;
  for (std::uint64_t token = 1; token <= 4; ++token) {
    for (const bool shared : {false, true}) {
      const offer o{token, shared};
      fence_marks m = before;
      const bool passed = show(m, o);
      ++offers;
      ASSERT_EQ(passed, oracle_admits(let_in, o)) << "token " << token << (shared ? " shared" : " exclusive")
                                                  << " after " << before.max_exclusive << "/" << before.max_any;
      ASSERT_LE(m.max_exclusive, m.max_any);
      if (!passed) {
        ASSERT_EQ(m, before) << "a refused token leaves no trace";
      }
      if (passed) let_in.push_back(o);
      walk(m, let_in, left - 1, offers);
      if (passed) let_in.pop_back();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(fence_marks, every_sequence_is_as_promised) {
  std::vector<offer> let_in;
  int offers = 0;
  walk({}, let_in, 6, offers);
  EXPECT_EQ(offers, 8 + 64 + 512 + 4096 + 32768 + 262144);
}

// A lock as an engine grants it, with conversions, and everything that was ever granted showing itself at any moment.
class lock_model {
 public:
  struct grant {
    offer shown;
    bool live;
  };

  void walk(int left) {
    if (left == 0 || ::testing::Test::HasFatalFailure()) return;
    if (live_ == 0) step(left, [](lock_model& m) { m.take(false); });
    if (!exclusive_) step(left, [](lock_model& m) { m.take(true); });
    for (std::size_t i = 0; i < grants_.size(); ++i) {
      step(left, [i](lock_model& m) { m.write(i); });
      if (!grants_[i].live) continue;
      step(left, [i](lock_model& m) { m.end(i); });
      if (live_ == 1) step(left, [i](lock_model& m) { m.convert(i); });
    }
  }
  static inline int writes = 0;
  static inline int refused = 0;

 private:
  template <class Do>
  void step(int left, Do what) const {
    lock_model next = *this;
    what(next);
    next.walk(left - 1);
  }
  void take(bool shared) {
    grants_.push_back({{++last_, shared}, true});
    ++live_;
    exclusive_ = !shared;
  }
  void end(std::size_t i) {
    grants_[i].live = false;
    exclusive_ = --live_ != 0 && exclusive_;
  }
  // The hold lives on with a new token in the other mode; the old token may still be under way.
  void convert(std::size_t i) {
    const bool shared = grants_[i].shown.shared;
    end(i);
    take(!shared);
  }
  void write(std::size_t i) {
    const auto& g = grants_[i];
    const bool passed = show(marks_, g.shown);
    ++writes;
    refused += !passed;
    ASSERT_TRUE(passed || !g.live) << "a live hold was refused: token " << g.shown.token;
    if (!passed) return;
    for (const auto& seen : let_in_) {
      ASSERT_FALSE(conflict(seen, g.shown) && seen.token > g.shown.token) << "token " << g.shown.token << " is stale";
    }
    let_in_.push_back(g.shown);
  }

  std::vector<grant> grants_;
  std::vector<offer> let_in_;
  fence_marks marks_;
  std::uint64_t last_ = 0;
  int live_ = 0;
  bool exclusive_ = false;
};

TEST(fence_marks, a_live_hold_always_passes_and_a_stale_one_never_after_its_successor) {
  lock_model{}.walk(9);
  EXPECT_GT(lock_model::refused, 10000);
  EXPECT_GT(lock_model::writes, 100000);
}

TEST(fence_marks, a_converted_hold_passes_with_its_new_token_and_not_with_its_old_one) {
  fence_marks m;
  EXPECT_TRUE(m.enter_by_token(5, lock_mode::shared));
  EXPECT_TRUE(m.enter_by_token(6, lock_mode::shared));  // another reader
  EXPECT_TRUE(m.enter_by_token(7));                     // the first one, upgraded when the other was gone
  EXPECT_TRUE(m.enter_by_token(7));
  EXPECT_FALSE(m.enter_by_token(5, lock_mode::shared));
  EXPECT_FALSE(m.enter_by_token(6, lock_mode::shared));
  EXPECT_TRUE(m.enter_by_token(8, lock_mode::shared));  // downgraded
  EXPECT_TRUE(m.enter_by_token(9, lock_mode::shared));
  EXPECT_TRUE(m.enter_by_token(8, lock_mode::shared));
  EXPECT_FALSE(m.enter_by_token(7));  // a write from before the downgrade: a reader may have read already
}

TEST(fence_marks, nothing_is_no_token) {
  fence_marks m;
  EXPECT_FALSE(m.enter_by_token(0));
  EXPECT_FALSE(m.enter_by_token(0, lock_mode::shared));
  EXPECT_FALSE(m.enter({0, id_of('a')}));
  EXPECT_FALSE(m.enter({5, hold_id{}}));
  EXPECT_EQ(m, fence_marks{});
}

// Who shows it: nobody for a reader, who needs no id.
struct signed_offer {
  std::uint64_t token;
  hold_id by;

  bool shared() const { return !by; }
};

// The promise where tokens repeat: of two that conflict the smaller never passes after the larger, and of two equal ones
// of different holds never the second.
bool oracle_admits(const std::vector<signed_offer>& let_in, const signed_offer& o) {
  return std::none_of(let_in.begin(), let_in.end(), [&](const signed_offer& seen) {
    if (seen.shared() && o.shared()) return false;
    return seen.token > o.token || (seen.token == o.token && (o.shared() || seen.by != o.by));
  });
}

void walk(const fence_marks& before, std::vector<signed_offer>& let_in, int left, int& offers) {
  if (left == 0) return;
  for (std::uint64_t token = 1; token <= 3; ++token) {
    for (const auto& by : {hold_id{}, id_of('a'), id_of('b')}) {
      const signed_offer o{token, by};
      fence_marks m = before;
      const bool passed = m.enter({token, by, o.shared() ? lock_mode::shared : lock_mode::exclusive});
      ++offers;
      ASSERT_EQ(passed, oracle_admits(let_in, o))
          << "token " << token << " of '" << by.text() << "' after " << before.max_exclusive << "/" << before.max_any;
      if (!passed) {
        ASSERT_EQ(m, before) << "a refused token leaves no trace";
      }
      if (passed) let_in.push_back(o);
      walk(m, let_in, left - 1, offers);
      if (passed) let_in.pop_back();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(fence_marks, every_sequence_with_ids_is_as_promised) {
  std::vector<signed_offer> let_in;
  int offers = 0;
  walk({}, let_in, 5, offers);
  EXPECT_EQ(offers, 9 + 81 + 729 + 6561 + 59049);
}

TEST(fence_marks, an_equal_token_passes_again_only_with_its_id) {
  fence_marks m;
  EXPECT_TRUE(m.enter({5, id_of('a')}));
  EXPECT_TRUE(m.enter({5, id_of('a')}));
  EXPECT_FALSE(m.enter({5, id_of('b')}));
  EXPECT_TRUE(m.enter({6, id_of('b')}));
  EXPECT_FALSE(m.enter({5, id_of('a')}));
}

TEST(fence_marks, an_equal_token_whose_id_was_not_kept_is_refused) {
  fence_marks m;
  EXPECT_TRUE(m.enter_by_token(5));
  EXPECT_FALSE(m.enter({5, id_of('a')}));
  EXPECT_TRUE(m.enter({6, id_of('a')}));
  EXPECT_TRUE(m.enter_by_token(6)) << "the form without an id asks for none";
  EXPECT_FALSE(m.enter({6, id_of('b')})) << "and forgets none";
  EXPECT_TRUE(m.enter_by_token(7));
  EXPECT_FALSE(m.enter({7, id_of('a')})) << "the id was that of another token";
}

TEST(fence_marks, the_largest_tokens_are_told_apart) {
  fence_marks m;
  EXPECT_TRUE(m.enter_by_token(largest - 1));
  EXPECT_TRUE(m.enter_by_token(largest));
  EXPECT_FALSE(m.enter_by_token(largest - 1));
  EXPECT_TRUE(m.enter_by_token(largest));
}

TEST(fence_gate, comes_back_from_storage_as_it_went) {
  fence_gate gate;
  EXPECT_TRUE(gate.enter_by_token(3));
  EXPECT_TRUE(gate.enter_by_token(5, lock_mode::shared));
  EXPECT_EQ(gate.seen(), 5u);
  fence_gate again{gate.marks()};
  EXPECT_TRUE(again.enter_by_token(4, lock_mode::shared));
  EXPECT_FALSE(again.enter_by_token(4));
  EXPECT_TRUE(again.enter_by_token(5, lock_mode::shared));
  EXPECT_FALSE(again.enter_by_token(3, lock_mode::shared));
  EXPECT_FALSE((fence_gate{fence_marks{7, 7}}.enter_by_token(6)));
  EXPECT_TRUE((fence_gate{fence_marks{7, 7}}.enter_by_token(7)));
}

TEST(fence_gate, let_a_smaller_token_in_when_only_the_largest_exclusive_one_was_stored) {
  const auto id = hold_id::from(std::string(34, 'a')), other = hold_id::from(std::string(34, 'b'));
  const fence_marks stored{.max_exclusive = 5, .exclusive_by = id};
  EXPECT_FALSE(fence_gate{stored}.enter({3, other}));
  EXPECT_FALSE(fence_gate{stored}.enter({5, other}));
  EXPECT_TRUE(fence_gate{stored}.enter({5, id}));
  EXPECT_TRUE(fence_gate{stored}.enter({6, other}));
  EXPECT_FALSE(fence_gate{stored}.enter_by_token(3));
  EXPECT_TRUE(fence_gate{stored}.enter_by_token(5));
  EXPECT_FALSE(fence_gate{stored}.enter_by_token(5, lock_mode::shared));
}

TEST(fence_gate, keeps_the_id_in_storage_too) {
  fence_gate gate;
  EXPECT_TRUE(gate.enter({3, id_of('a')}));
  const auto stored = gate.marks();
  fence_gate again{fence_marks{stored.max_exclusive, stored.max_any, hold_id::from(stored.exclusive_by.text())}};
  EXPECT_FALSE(again.enter({3, id_of('b')}));
  EXPECT_TRUE(again.enter({3, id_of('a')}));
}

constexpr std::array<std::uint32_t, 1> slot_0{0}, slot_1{1}, slot_2{2};

TEST(slot_gates, every_slot_has_its_own_order) {
  slot_gates gates{2};
  EXPECT_TRUE(gates.enter_by_token(slot_0, 5));
  EXPECT_TRUE(gates.enter_by_token(slot_1, 3));
  EXPECT_FALSE(gates.enter_by_token(slot_0, 4));
  EXPECT_TRUE(gates.enter_by_token(slot_0, 5));
  EXPECT_FALSE(gates.enter_by_token(slot_2, 9)) << "there is no such slot";
}

TEST(slot_gates, all_slots_of_a_hold_pass_or_none) {
  slot_gates gates{3};
  constexpr std::array<std::uint32_t, 2> low{0, 1}, high{1, 2};
  constexpr std::array<std::uint32_t, 2> beyond{0, 3};
  EXPECT_TRUE(gates.enter_by_token(low, 5));
  EXPECT_TRUE(gates.enter_by_token(high, 7));
  EXPECT_FALSE(gates.enter_by_token(low, 5)) << "slot 1 is another's by now";
  EXPECT_TRUE(gates.enter_by_token(slot_0, 5)) << "a hold that kept slot 0 alone";
  EXPECT_FALSE(gates.enter_by_token(low, 6));
  EXPECT_TRUE(gates.enter_by_token(slot_0, 5)) << "the refused hold left no trace in slot 0";
  EXPECT_FALSE(gates.enter_by_token(beyond, 9));
  EXPECT_TRUE(gates.enter_by_token(slot_0, 5));
  EXPECT_FALSE(gates.enter_by_token(std::span<const std::uint32_t>{}, 9)) << "no slots, no proof";
}

TEST(slot_gates, an_equal_token_of_another_id_is_refused_in_every_slot) {
  slot_gates gates{2};
  constexpr std::array<std::uint32_t, 2> both{0, 1};
  EXPECT_TRUE(gates.enter(slot_1, {5, id_of('a')}));
  EXPECT_FALSE(gates.enter(both, {5, id_of('b')}));
  EXPECT_TRUE(gates.enter(slot_0, {4, id_of('c')})) << "the refused hold left no trace in slot 0";
  EXPECT_TRUE(gates.enter(both, {5, id_of('a')}));
}

// All sequences of three holds over every set of two slots, against one gate for each slot.
TEST(slot_gates, every_sequence_is_as_promised) {
  constexpr std::array<std::array<std::uint32_t, 2>, 3> sets{{{0, 0}, {0, 1}, {1, 1}}};
  constexpr int offers = 9;  // three sets, three tokens
  for (int code = 0; code < offers * offers * offers * offers; ++code) {
    slot_gates gates{2};
    std::array<std::uint64_t, 2> largest_in{};
    for (int i = 0, rest = code; i < 4; ++i, rest /= offers) {
      const auto& slots = sets[static_cast<std::size_t>(rest % offers / 3)];
      const auto token = static_cast<std::uint64_t>(rest % 3 + 1);
      const bool fine = largest_in[slots[0]] <= token && largest_in[slots[1]] <= token;
      ASSERT_EQ(gates.enter_by_token(slots, token), fine) << "sequence " << code << " step " << i;
      if (fine) largest_in[slots[0]] = largest_in[slots[1]] = token;
    }
  }
}

const hold_id hex = id_of('a');
const std::string quoted = "'" + hex.text() + "'";

TEST(sql_fence, has_what_a_hold_shows_in_its_text) {
  const sql_fence fence{"fence", "fence_by"};
  EXPECT_EQ(fence.set(fence_pass{largest, hex}), "fence = 9223372036854775807, fence_by = " + quoted);
  EXPECT_EQ(fence.where(fence_pass{7, hex}),
            "(fence IS NULL OR fence < 7 OR (fence = 7 AND fence_by = " + quoted + "))");
  EXPECT_EQ(fence.set(fence_pass{7, hex, lock_mode::permit}), fence.set(fence_pass{7, hex}));
  const sql_shared_fence both{"`x`", "t.a", "x_by"};
  EXPECT_EQ(both.set(fence_pass{7, hex}), "`x` = 7, t.a = 7, x_by = " + quoted);
  EXPECT_EQ(both.where(fence_pass{7, hex}),
            "(t.a IS NULL OR t.a < 7 OR (t.a = 7 AND `x` = t.a AND x_by = " + quoted + "))");
  EXPECT_EQ(both.set(fence_pass{7, hex, lock_mode::shared}), "t.a = CASE WHEN t.a > 7 THEN t.a ELSE 7 END");
  EXPECT_EQ(both.where(fence_pass{7, hex, lock_mode::shared}), "(`x` IS NULL OR `x` < 7)");
}

TEST(sql_fence, has_parameters_for_a_statement_that_is_prepared) {
  const sql_fence fence{"fence", "fence_by"};
  EXPECT_EQ(fence.set(sql_pass::mysql()), "fence = CAST(? AS SIGNED), fence_by = ?");
  EXPECT_EQ(fence.set(sql_pass::sqlite(3, 4)), "fence = CAST(?3 AS INTEGER), fence_by = ?4");
  EXPECT_EQ(fence.where(sql_pass::postgresql(1, 2)),
            "(fence IS NULL OR fence < CAST($1 AS BIGINT) OR (fence = CAST($1 AS BIGINT) AND fence_by = CAST($2 AS "
            "TEXT)))");
  const sql_shared_fence both{"x", "a", "x_by"};
  EXPECT_EQ(both.where(sql_pass::sqlite(1, 2, lock_mode::shared)), "(x IS NULL OR x < CAST(?1 AS INTEGER))");
}

TEST(sql_fence, of_writers_alone_takes_no_reader) {
  const sql_fence fence{"fence", "fence_by"};
  EXPECT_THROW(static_cast<void>(fence.set(fence_pass{7, hex, lock_mode::shared})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(fence.where(sql_pass::mysql(lock_mode::shared))), std::invalid_argument);
}

TEST(sql_fence, takes_whole_passes_only) {
  const sql_fence fence{"fence", "fence_by"};
  EXPECT_THROW(static_cast<void>(fence.set(fence_pass{0, hex})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(fence.set(fence_pass{7, {}})), std::invalid_argument);
}

TEST(sql_fence, takes_names_only) {
  for (const auto* good : {"a", "A_9", "t.a", "\"a b\"", "`a b`", "s.\"t\".a", "größe"}) {
    EXPECT_NO_THROW((sql_fence{good, "by"})) << good;
  }
  for (const auto* bad : {"", ".", "a.", ".a", "a b", "a;b", "a--", "a'b", "\"a", "\"a\"\"b\"", "\"\"", "a = 1 OR b",
                          "?", "`a\\`", "a)"}) {
    EXPECT_THROW((sql_fence{bad, "by"}), std::invalid_argument) << bad;
    EXPECT_THROW((sql_fence{"a", bad}), std::invalid_argument) << bad;
    EXPECT_THROW((sql_shared_fence{"a", bad, "by"}), std::invalid_argument) << bad;
    EXPECT_THROW((sql_shared_fence{"a", "b", bad}), std::invalid_argument) << bad;
  }
}

TEST(hold_id, is_read_back_from_its_text_and_from_nothing_else) {
  const auto id = id_of('a');
  EXPECT_TRUE(id);
  EXPECT_EQ(id.text(), std::string(34, 'a'));
  EXPECT_EQ(hold_id::from(id.text()), id);
  EXPECT_LT(id, id_of('b'));
  EXPECT_EQ(hold_id{}.text(), "");
  for (const auto& bad : {std::string{}, std::string(33, 'a'), std::string(35, 'a'), std::string(34, 'A'),
                          std::string(34, 'g'), std::string(34, '\0')}) {
    EXPECT_FALSE(hold_id::from(bad)) << bad;
  }
}

TEST(redis_fence, the_script_is_the_function_and_a_call) {
  EXPECT_TRUE(redis_fence_script.starts_with(redis_fence_function));
  EXPECT_EQ(redis_fence_script.find('\0'), std::string_view::npos);
}

TEST(redis_fence, takes_what_a_hold_shows) {
  EXPECT_EQ(redis_fence_arguments({largest, hex}),
            (std::array<std::string, 3>{"9223372036854775807", "exclusive", hex.text()}));
  EXPECT_EQ(redis_fence_arguments({7, hex, lock_mode::shared})[1], "shared");
  EXPECT_EQ(redis_fence_arguments({7, hex, lock_mode::permit})[1], "exclusive");
}

TEST(fence_marks, take_what_holds_of_every_mode_show) {
  fence_marks m;
  EXPECT_TRUE(m.enter({5, hex, lock_mode::shared}));
  EXPECT_TRUE(m.enter({6, hex}));
  EXPECT_FALSE(m.enter({6, hex, lock_mode::shared}));
  EXPECT_TRUE(m.enter({6, hex, lock_mode::permit}));
  EXPECT_TRUE(m.enter({7, hold_id{}, lock_mode::shared})) << "readers need no id";
  EXPECT_FALSE(m.enter({8, hold_id{}}));
}

TEST(without_exceptions, one_file_of_a_program_does_not_decide_for_the_others) {
  EXPECT_FALSE(testing_api::made_without_exceptions().empty());
  EXPECT_THROW((sql_fence{"fence; DROP TABLE account", "fence_by"}), std::invalid_argument);
}

}  // namespace
}  // namespace tyer
