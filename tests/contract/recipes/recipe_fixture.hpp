// What the tests of the recipes have beside the fixture: a store, a door that a callback waits at, and a hold that is broken.
#pragma once

#include "contract/api/fixture.hpp"

#include <tyer/recipes.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

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

class recipe_fixture : public fixture {
 protected:
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
