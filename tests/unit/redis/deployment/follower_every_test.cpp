// Whom to follow: every combination of what three sentinels may say and of what our server may be, against rules that must
// hold in all of them.
#include "engines/redis/deployment/follower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tyer::redis::follower;
using endpoint = tyer::core::endpoint;
using word = follower::word;
using said = std::optional<word>;  // none: silent

const endpoint here{"a", 1}, other{"b", 1}, third{"c", 1};
constexpr std::uint64_t our_epoch = 5;

enum class phase { never_chosen, master, just_away, waited, long_away };
constexpr phase phases[]{phase::never_chosen, phase::master, phase::just_away, phase::waited, phase::long_away};

std::vector<said> all_words() {
  std::vector<said> all{std::nullopt};
  for (const endpoint& e : {here, other, third}) {
    for (const std::uint64_t epoch : {our_epoch - 1, our_epoch, our_epoch + 1}) {
      for (const bool leads : {false, true}) all.push_back(word{e, epoch, leads});
    }
  }
  return all;
}

struct world {
  phase p;
  std::vector<said> words;

  template <class Condition>
  std::size_t count(Condition c) const {
    return static_cast<std::size_t>(
        std::count_if(words.begin(), words.end(), [&](const said& s) { return s && c(*s); }));
  }
  template <class Condition>
  bool any(Condition c) const {
    return count(c) > 0;
  }
  std::uint64_t largest(bool leads) const {
    std::uint64_t e = 0;
    for (const auto& s : words) {
      if (s && s->leads_failover == leads) e = std::max(e, s->epoch);
    }
    return e;
  }
  bool others_answer() const {
    return any([](const word& w) { return !w.leads_failover; });
  }
  std::string shown() const {
    std::string t = "phase " + std::to_string(static_cast<int>(p));
    for (const auto& s : words) {
      t += s ? " " + s->master.host + std::to_string(s->epoch) + (s->leads_failover ? "!" : "") : " -";
    }
    return t;
  }
};

struct run {
  explicit run(const world& w) : choice(w.words.size()) {
    if (w.p != phase::never_chosen) {
      for (std::size_t i = 0; i < w.words.size(); ++i) choice.heard(i, {here, our_epoch, false}, now);
      choice.decide(false, now);
      choice.decide(true, now);
      if (w.p != phase::master) choice.decide(false, now);
      if (w.p == phase::waited) now += follower::patience;
      if (w.p == phase::long_away) now += follower::long_away;
      at = here;
    }
    for (std::size_t i = 0; i < w.words.size(); ++i) w.words[i] ? choice.heard(i, *w.words[i], now) : choice.silent(i);
    to = choice.decide(w.p == phase::master, now);
    if (to) at = *to;
  }

  follower choice;
  follower::time_point now{1h};
  std::optional<endpoint> to;
  endpoint at;
};

template <class Rule>
void in_every_world(Rule rule) {
  const auto all = all_words();
  for (const phase p : phases) {
    for (const auto& a : all) {
      for (const auto& b : all) {
        for (const auto& c : all) {
          const world w{p, {a, b, c}};
          rule(w);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(follower_every, we_go_only_where_a_sentinel_sends_us) {
  in_every_world([](const world& w) {
    const run r{w};
    EXPECT_TRUE(!r.to || w.any([&](const word& x) { return x.master == *r.to; })) << w.shown();
    EXPECT_FALSE(r.to == here && w.p != phase::never_chosen) << w.shown() << ": a move to where we are";
    EXPECT_TRUE(r.to || w.p != phase::never_chosen || !w.any([](const word&) { return true; })) << w.shown();
  });
}

TEST(follower_every, a_master_is_left_only_for_the_largest_epoch_and_not_for_the_word_of_a_leader_beside_others) {
  in_every_world([](const world& w) {
    if (w.p != phase::master) return;
    const run r{w};
    if (!r.to) return;
    const bool leads = !w.others_answer();
    const auto epoch = w.largest(leads);
    EXPECT_GT(epoch, our_epoch) << w.shown();
    EXPECT_TRUE(w.any([&](const word& x) {
      return x.master == *r.to && x.epoch == epoch && x.leads_failover == leads;
    })) << w.shown();
  });
}

TEST(follower_every, a_larger_epoch_that_no_other_contradicts_is_followed) {
  in_every_world([](const world& w) {
    const auto epoch = w.largest(false);
    if (epoch <= our_epoch || w.largest(true) >= epoch) return;
    const auto newest = [&](const word& x) { return x.epoch == epoch; };
    for (const endpoint& e : {here, other, third}) {
      if (w.count(newest) != w.count([&](const word& x) { return newest(x) && x.master == e; })) continue;
      EXPECT_EQ(run{w}.at, e) << w.shown();
    }
  });
}

TEST(follower_every, a_smaller_epoch_is_followed_only_after_long_and_when_a_majority_has_nothing_newer) {
  in_every_world([](const world& w) {
    if (w.p == phase::never_chosen) return;
    const run r{w};
    if (!r.to || w.any([&](const word& x) { return x.master == *r.to && x.epoch >= our_epoch; })) return;
    EXPECT_EQ(w.p, phase::long_away) << w.shown();
    EXPECT_GE(w.count([](const word&) { return true; }), 2U) << w.shown();
    // What a leader says of our own server, which is away, is no news.
    EXPECT_FALSE(w.any([](const word& x) { return x.epoch >= our_epoch && !(x.leads_failover && x.master == here); }))
        << w.shown();
  });
}

TEST(follower_every, once_decided_it_stays_decided) {
  in_every_world([](const world& w) {
    run r{w};
    EXPECT_FALSE(r.choice.decide(r.at == here && w.p == phase::master, r.now)) << w.shown();
    if (!r.choice.has_chosen()) return;
    EXPECT_FALSE(r.choice.decide(true, r.now)) << w.shown() << ": it has become master";
    const auto late = r.choice.decide(true, r.now + 1h);
    if (!late) return;
    // Who leads a failover has said so for an hour, and those who have not heard of it are few.
    EXPECT_LT(w.count([](const word& x) { return !x.leads_failover; }), 2U) << w.shown();
    EXPECT_TRUE(w.any([&](const word& x) { return x.leads_failover && x.master == *late; })) << w.shown();
    EXPECT_FALSE(r.choice.decide(true, r.now + 2h)) << w.shown() << ": and remains so";
  });
}

TEST(follower_every, what_all_that_answer_say_is_where_we_end) {
  in_every_world([](const world& w) {
    const auto first = std::find_if(w.words.begin(), w.words.end(), [](const said& s) { return s.has_value(); });
    if (first == w.words.end()) return;
    const word& one = **first;
    const auto same = [&](const word& x) { return x.master == one.master && x.epoch == one.epoch; };
    if (w.count(same) != w.count([](const word&) { return true; })) return;
    if (one.epoch < our_epoch && w.p != phase::never_chosen) return;
    if (one.epoch == our_epoch && w.p == phase::master) return;
    EXPECT_EQ(run{w}.at, one.master) << w.shown();
  });
}

// However they contradict each other: no faster than patience, and only as long as there is no master.
TEST(follower_every, nobody_is_sent_to_and_fro) {
  in_every_world([](const world& w) {
    if (w.p != phase::just_away) return;
    run r{w};
    int moves = 0;
    const auto end = r.now + 30s;
    for (auto t = r.now; t < end; t += follower::patience) moves += r.choice.decide(false, t).has_value() ? 1 : 0;
    EXPECT_LE(moves, 12) << w.shown();
  });
}

}  // namespace
