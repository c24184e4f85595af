// The state that all recursive_mutex objects of one name share: the owning thread, and how often it has locked.
#pragma once

#include "api/std_face.hpp"

#include <tyer/hold.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace detail {

// One name of one client.
//
// Thread safety: everything may be called from any thread. After fork only forked() is called: a thread of the parent may
// have been changing the rest.
class recursive_name {
 public:
  explicit recursive_name(const runtime::client_runtime& h) noexcept : face_(h) {}

  // True if this thread already owns the name; then the count is one higher. Throws errc::lost if its hold is lost.
  bool enter_again(std::uint32_t& counted);

  void lock(const lock_state& s, std::uint32_t& counted);
  bool try_lock(const lock_state& s, std::uint32_t& counted);
  bool try_lock_within(const lock_state& s, std::chrono::nanoseconds at_most, std::uint32_t& counted);

  // Does nothing if this thread is not the owner, or has not locked this object.
  void unlock(std::uint32_t& counted) noexcept;
  // For an object that is destroyed, on any thread: unlocks as often as the object was locked.
  void forget(std::uint32_t counted) noexcept;

  const hold& held() const;
  std::uint32_t depth() const noexcept;
  bool forked() const noexcept { return face_.forked(); }

 private:
  bool inside() const noexcept;
  void enter(std::uint32_t& counted) noexcept;
  bool take_off(std::uint32_t n) noexcept;

  std_face face_;
  mutable std::mutex mutex_;  // protects what follows and each object's own count
  std::uint64_t owner_ = 0;   // core::this_thread()
  std::uint32_t depth_ = 0;
};

// All names of a client. A name is here for as long as an object uses it.
class recursive_names {
 public:
  std::shared_ptr<recursive_name> find_or_make(std::string_view name, const runtime::client_runtime& h);
  void drop_if_unused(std::string_view name) noexcept;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<recursive_name>, std::less<>> names_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
