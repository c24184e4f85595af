// Where the recipes keep values: your own cache, behind four functions.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/clock.hpp>
#include <tyer/export.hpp>
#include <tyer/fence_pass.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {

// A value that was just made, and how long it is good. Zero or less: the caller gets the value, and it is not stored.
struct fresh {
  std::string value = {};
  std::chrono::milliseconds lives_for{0};
};

// A stored value, and how long it is still good: the store says that, so that clocks of two machines are never compared.
struct found {
  std::string value = {};
  std::chrono::milliseconds left{0};
};

// The answer to `enter`.
struct entered {
  bool let_in = false;              // false: a later holder was here before, so this one is refused
  std::optional<found> there = {};  // what is stored, if it was let in
};

// What a recipe needs from the place where values are stored: Redis, a table, memory that all processes share.
//
//   call  | does, in one step                                                                   | answers
//   ------+-------------------------------------------------------------------------------------+----------------------
//   find  | reads                                                                               | the value, or nothing
//   enter | checks the fence: from now on earlier conflicting holders are refused; reads          | whether it was let in
//   put   | checks the fence, and writes unless it is refused                                   | whether it was let in
//   erase | checks the fence, and removes unless it is refused                                  | whether it was let in
//
// The promises of the recipes depend on "in one step": two calls for one key never interleave (a Lua script, a transaction).
// The fence of a key works as `fence_marks` (<tyer/fence.hpp>), tyer_fence() in a Lua script, or sql_fence in a statement. It
// must outlive the value: if the store forgets it, a holder that was paused for that long may write again.
//
// A key is the name of the lock that guards it, as NAME/KEY: several recipes can share a store.
//
// A store that cannot answer throws any exception: the recipe passes it on, and takes it neither for "nothing there" nor for
// "refused". A store that has no way to check a fence may answer `true`: then a holder that was paused can overwrite what is
// newer.
//
// Thread safety: a recipe calls it from any thread, several at once.
class TYER_EXPORT store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store();

  [[nodiscard]] virtual std::optional<found> find(std::string_view key) = 0;
  [[nodiscard]] virtual entered enter(std::string_view key, const fence_pass& shown) = 0;
  [[nodiscard]] virtual bool put(std::string_view key, const fence_pass& shown, const fresh& made) = 0;
  [[nodiscard]] virtual bool erase(std::string_view key, const fence_pass& shown) = 0;
};

// A store in this process, for tests and for a program that has one process only.
//
// Fences are kept for as long as it lives: about 100 bytes for each key that was ever written.
class TYER_EXPORT memory_store final : public store {
 public:
  using clock = std::function<lease_clock::time_point()>;

  // Values expire by this clock; a test may pass its own: `[&] { return engine.now(); }`.
  explicit memory_store(clock now = &lease_clock::now);
  ~memory_store() override;

  std::optional<found> find(std::string_view key) override;
  entered enter(std::string_view key, const fence_pass& shown) override;
  bool put(std::string_view key, const fence_pass& shown, const fresh& made) override;
  bool erase(std::string_view key, const fence_pass& shown) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
