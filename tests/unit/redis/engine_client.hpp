// An engine with the least around it that makes it run: what a test says happens, and what came of it is kept.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::test {

using namespace std::chrono_literals;

// A time limit of requests for tests that need replicas: these have half of it to confirm, and on a busy machine one was
// seen to take 400 ms.
inline constexpr auto patient = 6000ms;

class engine_client final : public engine::events {
 public:
  explicit engine_client(std::string_view uri, std::chrono::milliseconds request_timeout = 2000ms,
                         std::string prefix = "tyer:") {
    auto parsed = core::parse_uri(uri);
    EXPECT_FALSE(parsed.error) << parsed.error.words;
    const engine::environment e{std::move(prefix), &ids, &clock, request_timeout,
                                [this](log_level level, std::string_view words) {
                                  logged += std::string{words} + "\n";
                                  if (level == log_level::warning) warned += std::string{words} + "\n";
                                }};
    auto made = ::tyer_engine_redis(parsed.value, e);
    EXPECT_FALSE(made.error) << made.error.words;
    value = std::move(made.value);
    value->open(*this);
  }

  // Runs the loop until it is so. The deadline is only for tests that fail.
  template <class Condition>
  bool until(Condition so, std::chrono::milliseconds limit = 10s) {
    const auto end = clock.now() + limit;
    while (!so()) {
      if (clock.now() >= end) return false;
      value->run(std::min(end, clock.now() + 10ms));
    }
    return true;
  }
  bool ready() {
    return until([&] { return ups > 0 && is_up; });
  }

  template <class T>
  struct box {
    std::optional<engine::outcome<T>> got;
    int times = 0;
  };
  template <class T>
  engine::reply<T> into(const std::shared_ptr<box<T>>& b) {
    return [b](engine::outcome<T>&& o) {
      b->got.emplace(std::move(o));
      ++b->times;
    };
  }
  template <class T, class Call>
  engine::outcome<T> wait(Call call) {
    auto b = std::make_shared<box<T>>();
    call(into<T>(b));
    EXPECT_FALSE(b->got) << "answered inline";
    EXPECT_TRUE(until([&] { return b->got.has_value(); })) << "never answered";
    return b->got ? std::move(*b->got) : engine::outcome<T>{};
  }

  static engine::request request(const core::id& who, std::string_view name) {
    engine::request r;
    r.what = {who, name};
    r.ttl = 10s;
    r.waiter_ttl = 3s;
    r.not_after = 2s;
    r.owner = "test";
    return r;
  }
  engine::outcome<engine::answer> acquire(const core::id& who, std::string_view name, bool enqueue = true) {
    auto r = request(who, name);
    r.enqueue = enqueue;
    return acquire(r);
  }
  engine::outcome<engine::answer> acquire(const engine::request& r) {
    return wait<engine::answer>([&](auto back) { value->acquire(r, std::move(back)); });
  }
  engine::outcome<engine::fate> release(const core::id& who, std::string_view name) {
    return wait<engine::fate>([&](auto back) { value->release({who, name}, true, std::move(back)); });
  }
  engine::outcome<engine::kept> keep(const core::id& who, std::string_view name, engine::fate as) {
    const engine::target t{who, name};
    return wait<engine::kept>([&](auto back) { value->keep({&t, 1}, as, 10s, std::move(back)); });
  }

  void wake(const engine::id& i) override { wakes.push_back(i); }
  void suspect(const engine::id& i) override { suspects.push_back(i); }
  void gone(const engine::id&) override { ADD_FAILURE() << "no message is proof"; }
  void asked(const engine::id& i, std::string_view reason) override { asks.emplace_back(i, reason); }
  void changed(std::string_view) override {}
  void up(const engine::server_facts& f) override {
    facts = f;
    is_up = true;
    ++ups;
  }
  void down(const engine::failure& f) override {
    absence = f;
    is_up = false;
    ++downs;
  }

  core::boot_clock clock;
  core::random_ids ids;
  bool is_up = false;
  int ups = 0, downs = 0;
  engine::server_facts facts;
  engine::failure absence;
  std::vector<core::id> wakes, suspects;
  std::vector<std::pair<core::id, std::string>> asks;
  std::string logged, warned;
  std::unique_ptr<engine::engine> value;
};

inline const engine::granted* granted(const engine::outcome<engine::answer>& o) {
  const auto* a = std::get_if<engine::answer>(&o.result);
  return a != nullptr ? std::get_if<engine::granted>(a) : nullptr;
}
inline const engine::queued* queued(const engine::outcome<engine::answer>& o) {
  const auto* a = std::get_if<engine::answer>(&o.result);
  return a != nullptr ? std::get_if<engine::queued>(a) : nullptr;
}
template <class T>
std::optional<engine::why> why_not(const engine::outcome<T>& o) {
  const auto* f = std::get_if<engine::failure>(&o.result);
  return f != nullptr ? std::optional{f->kind} : std::nullopt;
}

}  // namespace tyer::test
