// A database whose server is the test. It is greeted, and nothing else was said.
#pragma once

#include "unit/sql/scripted_engine.hpp"

namespace tyer::sql {

struct scripted_database : scripted_engine<database> {
  static constexpr milliseconds ttl = std::chrono::seconds{3}, request_timeout = std::chrono::seconds{60};
  static constexpr std::int64_t now = 1'000'000'000'000;  // at the server
  static constexpr std::uint32_t waiters_max = 10'000;

  void SetUp() override {
    open(request_timeout, waiters_max);
    greet();
  }
  void greet() {
    step([&] { w.to->on_open(); });
    answer("facts", {rows_of({{bytes_cell("1"), number_cell(now)}}), one_number(1)});
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
};

}  // namespace tyer::sql
