// Whether something has come that nobody has asked for.
#include "engines/mysql/idle.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace tyer::mysql {
namespace {

using namespace std::chrono_literals;

struct mysql_idle : ::testing::Test {
  mysql_idle() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()), 0);
    it.start(both[0], alive);
  }
  ~mysql_idle() override {
    it.stop();
    context.poll();
    for (const int s : both) ::close(s);
  }
  void something_comes() { EXPECT_EQ(::write(both[1], "x", 1), 1); }

  boost::asio::io_context context;
  std::array<int, 2> both{};
  bool busy = false;
  int told = 0;
  std::shared_ptr<int> alive = std::make_shared<int>();
  idle it{context, [this] { return busy; }, [this] { ++told; }};
};

TEST_F(mysql_idle, tells_once_of_what_nobody_has_asked_for) {
  something_comes();
  while (told == 0 && context.run_one_for(20s) > 0) {}
  EXPECT_EQ(told, 1);
}

// The server was pinged before the answer was heard, and what it led to had to wait for somebody to drive the client again.
TEST_F(mysql_idle, an_answer_that_took_its_time_was_taken_for_something_that_nobody_had_asked_for) {
  busy = true;
  context.run_for(600ms);  // rests twice meanwhile
  something_comes();
  context.poll();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace tyer::mysql
