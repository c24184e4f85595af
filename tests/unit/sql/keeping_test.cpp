// What a keep() of several answers while some of them take long, or go wrong.
#include "unit/kit/pocket_engine.hpp"
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;
using seam::kept;

struct silent final : seam::events {
  void wake(const seam::id&) override {}
  void suspect(const seam::id&) override {}
  void gone(const seam::id&) override {}
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override {}
  void down(const failure&) override {}
};

struct sql_keeping : ::testing::Test {
  static constexpr milliseconds ttl = 3s;
  static constexpr std::int64_t now = 1'000'000'000'000;  // at the server

  void SetUp() override {
    it = std::make_unique<database>(
        seam::environment{"", &ids, &clock, 60s, {}},
        database::parts{.scheme = "sql://",
                        .says = std::make_unique<dialect>(dialect::setting{ids.nonce(), 60s}, scripted),
                        .by = std::make_unique<scripted_wire>(w),
                        .box = std::make_shared<seam::inbox>()});
    it->open(events);
    step([&] { w.to->on_open(); });
    answer("facts", {rows_of({{bytes_cell("1"), number_cell(now)}}), one_number(1)});
    granted(plain, mode::exclusive);
    answer("take", {one_number(7)});
    granted(shared, mode::shared);
    answer("read", {rows_of({all_row(0, now)})});
    state = std::get<std::string>(sent("create").at(1).values.at(8));
    answer("create", {{}, one_number(0)});
  }
  void TearDown() override { it.reset(); }

  template <class F>
  void step(F what) {
    what();
    it->run(clock.now());
    it->run(clock.now());
  }
  void pass(milliseconds d) {
    clock.move(d);
    it->run(clock.now());
    it->run(clock.now());
  }
  exchange sent(std::string_view first) const {
    for (const auto& [number, e] : w.sent) {
      if (e.front().text == first) return e;
    }
    ADD_FAILURE() << first << " was not sent";
    return {};
  }
  std::size_t how_often(std::string_view first) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(w.sent, [&](const auto& s) { return s.second.front().text == first; }));
  }
  // The first of these that is under way.
  void answer(std::string_view first, answers a) {
    const auto at = std::ranges::find_if(w.sent, [&](const auto& s) { return s.second.front().text == first; });
    ASSERT_NE(at, w.sent.end()) << first << " was not sent";
    const auto number = at->first;
    w.sent.erase(at);
    step([&] { w.to->on_answers(number, std::move(a)); });
  }
  void granted(const seam::id& who, mode how) {
    step([&] {
      it->acquire({.what = {who, "n", how}, .ttl = ttl, .waiter_ttl = 1s, .not_after = 10s},
                  [](seam::outcome<seam::answer>&&) {});
    });
  }
  struct heard {
    int times = 0;
    kit::result<kept> said;
    const std::vector<fate>& fates() const { return std::get<kept>(said).fates; }
  };
  std::shared_ptr<heard> keep() {
    auto h = std::make_shared<heard>();
    const std::array<seam::target, 2> both{seam::target{plain, "n"}, seam::target{shared, "n"}};
    step([&] {
      it->keep(both, fate::holding, ttl, [h](seam::outcome<kept>&& o) {
        ++h->times;
        h->said = std::move(o.result);
      });
    });
    return h;
  }
  answered extended() const { return rows_of({{bytes_cell(plain.view())}}); }

  kit::hand_clock clock;
  core::random_ids ids;
  silent events;
  scripted_wire::state w;
  std::unique_ptr<database> it;
  const seam::id plain = ids.next(), shared = ids.next();
  std::string state;  // of the shared hold, as it was written
};

TEST_F(sql_keeping, one_that_took_long_kept_the_others_waiting_until_their_leases_were_over) {
  const auto h = keep();
  answer("extend", {extended()});
  EXPECT_EQ(h->times, 0) << "there is still time";
  pass(ttl / 6);
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

TEST_F(sql_keeping, what_comes_after_it_was_told_without_is_known_the_next_time) {
  keep();
  answer("extend", {extended()});
  pass(ttl / 6);
  answer("begin_session", {answered{}});
  const auto again = keep();
  EXPECT_EQ(how_often("read"), 1u) << "it is being kept already";
  answer("read", {rows_of({name_row(1, state), all_row(0, now + 1)})});
  answer("write", {one_number(0)});
  answer("extend", {extended()});
  ASSERT_EQ(again->times, 1);
  EXPECT_EQ(again->fates(), (std::vector{fate::holding, fate::unknown}));
}

TEST_F(sql_keeping, nothing_is_told_while_nothing_is_known) {
  const auto h = keep();
  pass(ttl / 6);
  EXPECT_EQ(h->times, 0);
  answer("extend", {extended()});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

TEST_F(sql_keeping, one_that_was_refused_spoiled_what_was_known_of_the_others) {
  const auto h = keep();
  answer("read", {answered{.failed = true, .code = "no", .words = "no"}});
  EXPECT_EQ(h->times, 0);
  answer("extend", {extended()});
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->fates(), (std::vector{fate::holding, fate::unknown}));
}

TEST_F(sql_keeping, if_nothing_is_known_it_is_told_why) {
  const auto h = keep();
  answer("read", {answered{.failed = true, .code = "no", .words = "no"}});
  answer("extend", {answered{.failed = true, .code = "no", .words = "no"}});
  ASSERT_EQ(h->times, 1);
  ASSERT_TRUE(std::holds_alternative<failure>(h->said));
  EXPECT_EQ(std::get<failure>(h->said).kind, why::refused);
}

}  // namespace
}  // namespace tyer::sql
