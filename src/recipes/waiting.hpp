// Shared by the recipes: a bounded wait for a lock, and its error message.
#pragma once

#include "core/name.hpp"

#include <tyer/acquirable.hpp>
#include <tyer/clock.hpp>
#include <tyer/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {
namespace detail {

inline constexpr std::chrono::hours a_year{24 * 365};  // in effect no limit, and it does not overflow

// The time that one call may spend, over all its waits.
class time_limit {
 public:
  explicit time_limit(std::chrono::milliseconds at_most)
      : at_most_(std::min<std::chrono::milliseconds>(at_most, a_year)), until_(lease_clock::now() + at_most_) {}

  bool over() const { return lease_clock::now() >= until_; }
  lease_clock::duration left() const { return until_ - lease_clock::now(); }
  std::chrono::milliseconds whole() const { return at_most_; }

 private:
  std::chrono::milliseconds at_most_;
  lease_clock::time_point until_;
};

inline std::string lock_name(std::string_view name, std::string_view key) {
  return std::string{name}.append("/").append(key);
}

inline void require(bool so, const char* words) {
  if (!so) throw error({errc::invalid_option, words});
}

[[noreturn]] inline void timed_out(std::string_view name, const time_limit& limit) {
  throw error({std::make_error_code(std::errc::timed_out),
               core::quoted(name) + ": others have held the lock for longer than wait_at_most, " +
                   std::to_string(limit.whole().count()) + " ms"});
}

// Empty if others hold it until the limit. Throws errc::unavailable if the engine is silent until then.
inline hold acquire_within(const acquirable& lock, const time_limit& limit) {
  return limit.over() ? lock.try_acquire() : lock.try_acquire_for(limit.left());
}

}  // namespace detail
}  // namespace recipes
}  // namespace v1
}  // namespace tyer
