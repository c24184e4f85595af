#include "core/function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace tyer::core {
namespace {

// Counts how many of it are alive.
struct counted {
  explicit counted(int& n) : alive(&n) { ++*alive; }
  counted(const counted& o) : alive(o.alive) { ++*alive; }
  counted(counted&& o) noexcept : alive(o.alive) { ++*alive; }
  ~counted() { --*alive; }
  int* alive;
};

TEST(function, is_empty_until_it_is_given_something) {
  function<int()> f;
  EXPECT_FALSE(f);
  f = [] { return 1; };
  EXPECT_TRUE(f);
  EXPECT_EQ(f(), 1);
  f = nullptr;
  EXPECT_FALSE(f);
}

TEST(function, holds_what_cannot_be_copied) {
  function<int(int)> f = [p = std::make_unique<int>(40)](int more) { return *p + more; };
  function<int(int)> g = std::move(f);
  EXPECT_FALSE(f);  // NOLINT: moved from is empty, and that is promised
  EXPECT_EQ(g(2), 42);
}

TEST(function, passes_arguments_without_copies) {
  function<std::unique_ptr<int>(std::unique_ptr<int>&&)> f = [](std::unique_ptr<int>&& p) { return std::move(p); };
  EXPECT_EQ(*f(std::make_unique<int>(7)), 7);
}

TEST(function, destroys_what_it_holds_exactly_once) {
  int alive = 0;
  {
    function<void()> small = [c = counted{alive}] {};
    function<void()> large = [c = counted{alive}, room = std::array<char, 200>{}] { static_cast<void>(room); };
    EXPECT_EQ(alive, 2);
    function<void()> moved = std::move(small);
    EXPECT_EQ(alive, 2);
    moved = std::move(large);
    EXPECT_EQ(alive, 1);
    auto& self = moved;
    moved = std::move(self);
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(moved);
  }
  EXPECT_EQ(alive, 0);
}

TEST(function, holds_what_is_larger_than_its_room) {
  const std::array<int, 100> numbers{1, 2, 3};
  function<int()> f = [numbers] { return numbers[0] + numbers[1] + numbers[2]; };
  function<int()> g = std::move(f);
  EXPECT_EQ(g(), 6);
}

TEST(function, may_be_replaced_by_what_it_calls) {
  function<void()> f;
  std::string said;
  f = [&] {
    said += "once";
    const auto last = std::move(f);  // as a reply does that is called only once
  };
  f();
  EXPECT_EQ(said, "once");
  EXPECT_FALSE(f);
}

}  // namespace
}  // namespace tyer::core
