// A database whose server is the test, on time that the test moves. It is greeted, and nothing else was said.
#pragma once

#include "unit/kit/pocket_engine.hpp"
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace tyer::sql {

struct silent final : seam::events {
  void wake(const seam::id&) override {}
  void suspect(const seam::id&) override {}
  void gone(const seam::id&) override {}
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override {}
  void down(const failure&) override {}
};

struct scripted_database : ::testing::Test {
  static constexpr milliseconds ttl = std::chrono::seconds{3}, request_timeout = std::chrono::seconds{60};
  static constexpr std::int64_t now = 1'000'000'000'000;  // at the server

  void SetUp() override {
    it = std::make_unique<database>(
        seam::environment{"", &ids, &clock, request_timeout, {}},
        database::parts{.scheme = "sql://",
                        .says = std::make_unique<dialect>(dialect::setting{ids.nonce(), request_timeout}, scripted),
                        .by = std::make_unique<scripted_wire>(w),
                        .box = std::make_shared<seam::inbox>()});
    it->open(events);
    step([&] { w.to->on_open(); });
    answer("facts", {rows_of({{bytes_cell("1"), number_cell(now)}}), one_number(1)});
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
  void acquire(const seam::id& who, mode how) {
    step([&] {
      it->acquire(
          {.what = {who, "n", how}, .ttl = ttl, .waiter_ttl = ttl / 3, .not_after = request_timeout, .enqueue = true},
          [](seam::outcome<seam::answer>&&) {});
    });
  }
  static answered nothing() { return rows_of({}); }
  static answered no() { return {.failed = true, .code = "no", .words = "no"}; }

  kit::hand_clock clock;
  core::random_ids ids;
  silent events;
  scripted_wire::state w;
  std::unique_ptr<database> it;
};

}  // namespace tyer::sql
