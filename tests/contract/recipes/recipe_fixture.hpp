// What the tests of the recipes have beside the fixture: a store, a door that a callback waits at, and a hold that is broken.
#pragma once

#include "contract/api/fixture.hpp"

#include <tyer/recipes.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace contract {

namespace recipes = tyer::recipes;

// A place in a callback: the test sees that somebody has come there, and lets it go on. A test that fails meanwhile waits for
// its threads before it destroys the door, so nobody stands there without a limit.
class door {
 public:
  ~door() { open(); }
  void pass() {
    come_ = true;
    if (!eventually([&] { return opened_.load(); })) throw std::runtime_error{"nobody opened the door"};
  }
  bool reached() {
    return eventually([&] { return come_.load(); });
  }
  void open() { opened_ = true; }

 private:
  std::atomic<bool> come_{false}, opened_{false};
};

// Threads of which a test has to know that they wait, and that none is still on its way there: on a machine with much to do
// that takes one as long as it likes.
class waiting_threads {
 public:
  void joined_by_this_one() {
    const std::lock_guard guard{mutex_};
    tasks_.push_back(::gettid());
  }
  bool asleep(std::size_t how_many) {
    const std::lock_guard guard{mutex_};
    return tasks_.size() == how_many && std::ranges::all_of(tasks_, sleeps);
  }

 private:
  static bool sleeps(pid_t task) {
    std::ifstream file{"/proc/self/task/" + std::to_string(task) + "/stat"};
    const std::string stat{std::istreambuf_iterator<char>{file}, {}};
    const auto name_ends = stat.rfind(") ");
    return name_ends != std::string::npos && stat.substr(name_ends + 2, 1) == "S";
  }

  std::mutex mutex_;
  std::vector<pid_t> tasks_;
};

// Counts how often the one behind it is read. With a door, whoever erases comes by it.
class counting_store final : public recipes::store {
 public:
  explicit counting_store(std::shared_ptr<recipes::store> behind, door* before_erase = nullptr)
      : behind_(std::move(behind)), before_erase_(before_erase) {}

  std::optional<recipes::found> find(std::string_view key) override {
    auto there = behind_->find(key);
    ++finds;
    return there;
  }
  recipes::entered enter(std::string_view key, const tyer::fence_pass& shown) override {
    return behind_->enter(key, shown);
  }
  bool put(std::string_view key, const tyer::fence_pass& shown, const recipes::fresh& made) override {
    return behind_->put(key, shown, made);
  }
  bool erase(std::string_view key, const tyer::fence_pass& shown) override {
    if (before_erase_ != nullptr) before_erase_->pass();
    return behind_->erase(key, shown);
  }

  std::atomic<int> finds{0};

 private:
  std::shared_ptr<recipes::store> behind_;
  door* before_erase_;
};

class recipe_fixture : public fixture {
 protected:
  // What a client has counted of the locks of a group.
  static tyer::group_stats group_of(const tyer::client& c, std::string_view group) {
    for (const auto& g : c.stats().groups) {
      if (g.name == group) return g;
    }
    throw std::runtime_error{"no such group"};
  }
  static std::uint64_t holds_of(const tyer::client& c, std::string_view group) {
    const auto ended = group_of(c, group).acquire_duration;
    using tyer::acquire_end;
    return ended[acquire_end::granted].count() + ended[acquire_end::queued].count() +
           ended[acquire_end::handed_off].count();
  }

  // Breaks whatever holds the name, past the public API.
  void break_holds_of(const std::string& lock) {
    for (const auto& e : raw().holding(lock)) static_cast<void>(raw().evict(e));
  }
  ::testing::AssertionResult waits(const std::string& lock, std::size_t waiters) {
    if (eventually([&] { return raw().waiting(lock).size() == waiters; })) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "not " << waiters << " in the queue of " << lock;
  }

  std::shared_ptr<recipes::memory_store> store = std::make_shared<recipes::memory_store>();
  tyer::client one = connect(), two = connect();
};

}  // namespace contract
