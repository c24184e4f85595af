// An engine whose server is the test, on time that the test moves.
#pragma once

#include "unit/kit/pocket_engine.hpp"
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::sql {

struct listener final : seam::events {
  void wake(const seam::id& who) override { woken.push_back(who); }
  void suspect(const seam::id&) override {}
  void gone(const seam::id& who) override { all_gone.push_back(who); }
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override { ++ups; }
  void down(const failure& f) override { words = f.words; }

  std::vector<seam::id> woken, all_gone;
  int ups = 0;
  std::string words;
};

template <class Engine>
struct scripted_engine : ::testing::Test {
  void TearDown() override { it.reset(); }

  template <class... More>
  void open(milliseconds request_timeout, More&&... more) {
    it = std::make_unique<Engine>(
        seam::environment{"", &ids, &clock, request_timeout, {}},
        parts{"sql://", std::make_unique<dialect>(dialect::setting{ids.nonce(), request_timeout}, *speaks),
              std::make_unique<scripted_wire>(w), std::make_shared<seam::inbox>()},
        std::forward<More>(more)...);
    it->open(events);
  }

  template <class F>
  void step(F what) {
    what();
    it->run(clock.now());
    it->run(clock.now());
  }
  void pass(milliseconds d) {
    step([&] { clock.move(d); });
  }
  void cut_off() {
    step([&] { w.to->on_broken(kit::no(why::unknown, errc::unavailable, "reset")); });
  }

  static bool says(const exchange& e, std::string_view text) {
    return std::ranges::any_of(e, [&](const auto& one) { return one.text == text; });
  }
  std::size_t how_often(std::string_view text) const {
    return static_cast<std::size_t>(std::ranges::count_if(w.sent, [&](const auto& s) { return says(s.second, text); }));
  }
  exchange sent(std::string_view text) const {
    for (const auto& [number, e] : w.sent) {
      if (says(e, text)) return e;
    }
    ADD_FAILURE() << text << " was not sent";
    return {};
  }
  // The first exchange under way that says it; the answers are those of its last statements.
  void answer(std::string_view text, answers a) {
    const auto at = std::ranges::find_if(w.sent, [&](const auto& s) { return says(s.second, text); });
    ASSERT_NE(at, w.sent.end()) << text << " was not sent";
    const auto number = at->first;
    if (a.size() < at->second.size()) a.insert(a.begin(), at->second.size() - a.size(), answered{});
    w.sent.erase(at);
    step([&] { w.to->on_answers(number, std::move(a)); });
  }

  const tongue* speaks = &scripted;
  kit::hand_clock clock;
  core::random_ids ids;
  listener events;
  scripted_wire::state w;
  std::unique_ptr<Engine> it;
};

}  // namespace tyer::sql
