// Two hosts of which neither says a word: a wire goes to them in turn.
#pragma once

#include "core/uri.hpp"
#include "engines/sql/wire.hpp"
#include "unit/sql/mute_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace tyer::test {

struct nobody final : sql::wire::user {
  void on_open() override {}
  void on_answers(std::uint64_t, sql::answers) override {}
  void on_notice(std::string) override {}
  void on_broken(sql::failure) override { ++broken; }
  int broken = 0;
};

// Whoever decides gives up the connection by itself: the wire is not told that it is broken.
template <class Wire, class Box, class Options>
void expect_each_to_have_its_turn(Options o) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  mute_server first, second;
  o.hosts = {{"127.0.0.1", first.port()}, {"127.0.0.1", second.port()}};
  auto box = std::make_shared<Box>();
  nobody user;
  Wire w{std::move(o), box};
  const auto opened = [&](mute_server& at) {
    const auto before = at.visitors();
    w.open(user);
    for (const auto end = clock::now() + 20s; at.visitors() == before && clock::now() < end;) {
      for (auto& d : box->take(clock::now() + 10ms)) d(nullptr);
    }
    return at.visitors() > before;
  };
  EXPECT_TRUE(opened(first));
  w.shut();
  EXPECT_TRUE(opened(second));
  w.shut();
  EXPECT_TRUE(opened(first));
  EXPECT_EQ(user.broken, 0);
}

}  // namespace tyer::test
