#include "history/reader.hpp"
#include "history/writer.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace fault {
namespace {

class History : public ::testing::Test {
 protected:
  History() {
    char name[] = "/tmp/tyer-history-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~History() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/a.hist"; }
  std::string folder_;
};

TEST_F(History, ComesBackInOrder) {
  {
    history_writer w{path(), 16};
    for (std::uint64_t i = 0; i < 10; ++i) w.append({.token = i, .what = op::attempt});
  }
  const auto lines = read_history(path());
  ASSERT_EQ(lines.size(), 10u);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(lines[i].token, i);
  EXPECT_EQ(lines[0].pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(History, SurvivesKill) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    history_writer w{path(), 1 << 20};
    for (std::uint64_t i = 0;; ++i) {
      w.append({.token = i, .what = op::attempt});
      if (i >= 100) ::usleep(10);
      if (i == 100 && ::write(ready[1], "x", 1) != 1) ::_exit(1);
    }
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  for (const int end : ready) ::close(end);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto lines = read_history(path());
  EXPECT_GT(lines.size(), 100u);
  for (std::uint64_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i].token, i);
}

TEST_F(History, TakesLinesFromManyThreads) {
  history_writer w{path(), 4000};
  {
    std::vector<std::jthread> threads;
    for (std::uint16_t t = 0; t < 4; ++t) {
      threads.emplace_back([&w, t] {
        for (int i = 0; i < 1000; ++i) w.append({.worker = t, .what = op::attempt});
      });
    }
  }
  EXPECT_EQ(read_histories(folder_).at(0).size(), 4000u);
}

}  // namespace
}  // namespace fault
