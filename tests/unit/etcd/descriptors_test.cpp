// A process that has no descriptor left.
#include "core/clock.hpp"
#include "engine/table.hpp"
#include "none_left.hpp"
#include "sanitized.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <system_error>

namespace {

using namespace std::chrono_literals;
using namespace tyer;

struct etcd_descriptors : ::testing::TestWithParam<const char*>, engine::events {
  void SetUp() override {
    if (test::under_pointer_checks) GTEST_SKIP() << "UBSan needs descriptors itself";
  }
  engine::made make() {
    auto parsed = core::parse_uri(GetParam());
    return ::tyer_engine_etcd(parsed.value, {"", &ids, &clock, 2000ms, {}});
  }
  bool until(engine::engine& e, const std::string& words) {
    for (const auto end = clock.now() + 10s; clock.now() < end && why.find(words) == why.npos;) {
      if (before_run) before_run->take_all();
      e.run(clock.now() + 10ms);
    }
    return why.find(words) != why.npos;
  }

  void wake(const engine::id&) override {}
  void suspect(const engine::id&) override {}
  void gone(const engine::id&) override {}
  void asked(const engine::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const engine::server_facts&) override {}
  void down(const engine::failure& f) override { why = f.words; }

  core::boot_clock clock;
  core::random_ids ids;
  std::optional<test::none_left> before_run;
  std::string why;
};

// It was: gRPC ended the process; later, an exception of Asio's out of open().
TEST_P(etcd_descriptors, of_which_none_are_left_ended_the_process) {
  std::error_code code;
  before_run.emplace();
  try {
    make();
  } catch (const tyer::error& e) {
    code = e.code();
  }
  before_run.reset();
  EXPECT_EQ(code, std::errc::too_many_files_open);
  EXPECT_NE(make().value, nullptr) << "and none of them is kept";
}

TEST_P(etcd_descriptors, of_which_none_are_left_are_named_while_connecting) {
  const auto m = make();
  ASSERT_NE(m.value, nullptr);
  before_run.emplace();
  m.value->open(*this);
  EXPECT_TRUE(until(*m.value, "Too many open files")) << why;
  before_run.reset();
  why.clear();  // nobody listens there
  EXPECT_TRUE(until(*m.value, "refused")) << why;
}

INSTANTIATE_TEST_SUITE_P(of, etcd_descriptors,
                         ::testing::Values("etcd://127.0.0.1:1", "etcd://127.0.0.1:1?protocol=go"));

}  // namespace
