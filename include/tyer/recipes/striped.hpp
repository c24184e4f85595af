// Several locks for one hot name.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>
#include <tyer/mutex.hpp>
#include <tyer/options.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {

// A hold, and its stripe.
struct stripe_hold {
  std::size_t stripe = 0;
  hold held;
};

// n locks, `NAME/0` to `NAME/n-1`, for a name on which a single lock would be a bottleneck. With redis+cluster:// they live
// on different servers.
//
//   you have                         | call                | which stripe
//   ---------------------------------+---------------------+-----------------------------------------------------------------
//   many things of a kind (accounts) | acquire(key)        | always the same for a key, on every machine; waits for it
//   n workers' worth of something    | acquire_any()       | the next one by turn; if it is taken, the first free one behind it;
//                                    |                     |   if all are, it waits in the queue of the first
//   a stock, split into n parts      | take(f)             | as acquire_any, but goes on to the next while f says "nothing left"
//
// Keys share stripes: two keys may have the same one. So never hold two stripes of one name at once, but take what you need with a
// multi_mutex. The stripe of a key is its 64-bit FNV-1a hash modulo n: all users of a name must give the same n, and a
// different n needs a new name.
//
//   what goes wrong      | what happens
//   ---------------------+------------------------------------------------------------------------------------------------------
//   a holder dies        | its stripe is free after the ttl at the latest; the others are as they were
//   the engine is away   | errc::unavailable, as mutex::acquire; nothing is held
//   one server of a      | acquire(key): as above, if the stripe of the key is there. acquire_any() and take() go on to the stripes of
//     cluster is away    |   the others, after `request_timeout` for each that does not answer; take() comes back to those in the end
//   f throws             | its caller gets the exception; the stripe is given back
//
// Every stripe has its own tokens: check a token with what belongs to that stripe (its row, its counter).
//
// Thread safety: everything may be called from any thread.
class TYER_EXPORT striped {
 public:
  // Throws invalid_name, invalid_option (unless 1 <= stripes <= 65,536).
  striped(const client& owner, std::string_view name, std::size_t stripes, lock_options options = lock_options(),
          std::source_location where = std::source_location::current());
  striped(const client&&, std::string_view, std::size_t, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second.
  striped(const client&, std::initializer_list<std::string_view>, std::size_t, lock_options = {},
          std::source_location = {}) = delete;
  // For containers. Both objects are then the same: the moved-from object keeps working.
  striped(striped&&) noexcept;
  striped& operator=(striped&&) noexcept;
  ~striped();

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t stripe_of(std::string_view key) const noexcept;
  // The mutex of a stripe, for calls with limits. Throws invalid_option for a stripe out of range.
  [[nodiscard]] const mutex& at(std::size_t stripe) const&;
  const mutex& at(std::size_t) const&& = delete;  // it lives in the object: name that

  [[nodiscard]] stripe_hold acquire(std::string_view key, std::stop_token stop = {},
                                    std::source_location where = std::source_location::current()) const;
  [[nodiscard]] stripe_hold acquire_any(std::stop_token stop = {},
                                        std::source_location where = std::source_location::current()) const;

  // Calls f(stripe, hold) under one stripe after the other, starting with this object's own, until f returns true; returns
  // that stripe, or nothing if f returned false for every stripe. Stripes that are taken come last, and are waited for, without
  // a limit unless `stop` is one: none is left out, and each is tried once. "Nothing" means that each was empty when it was tried, not all at one moment. One
  // stripe is held at a time. Stopped: errc::cancelled.
  [[nodiscard]] std::optional<std::size_t> take(const std::function<bool(std::size_t, const hold&)>& f,
                                                std::stop_token stop = {},
                                                std::source_location where = std::source_location::current()) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
