// Which of several servers a wire goes to.
#include "engines/mysql/wire.hpp"

#include "unit/sql/mute_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace tyer::mysql {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct nobody final : sql::wire::user {
  void on_open() override {}
  void on_answers(std::uint64_t, answers) override {}
  void on_notice(std::string) override {}
  void on_broken(kit::failure) override { ++broken; }
  int broken = 0;
};

// Whoever decides gives up the connection by itself: the wire is not told that it is broken.
TEST(mysql_wire, a_server_that_was_silent_was_asked_again_and_again_and_no_other) {
  test::mute_server first, second;
  auto box = std::make_shared<asio_box>();
  nobody user;
  wire w{options{.hosts = {{"127.0.0.1", first.port()}, {"127.0.0.1", second.port()}},
                 .user = "u",
                 .password = "",
                 .database = "d",
                 .encrypted = options::tls::off,
                 .files = {},
                 .texts = {}},
         box};
  const auto opened = [&](test::mute_server& at) {
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

}  // namespace
}  // namespace tyer::mysql
