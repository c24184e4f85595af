// What all recursive_mutex objects of one name have in common: which thread is inside, and how often.
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
// Thread safety: everything may be called from any thread. After fork nothing but forked() touches what a thread that did not
// come along may have had in its hands.
class recursive_name {
 public:
  explicit recursive_name(const runtime::client_runtime& h) noexcept : face_(h) {}

  // True if this thread is inside already, and now once more. Throws errc::lost if what it is inside by is over.
  bool enter_again(std::uint32_t& counted);

  void lock(const lock_state& s, std::uint32_t& counted);
  bool try_lock(const lock_state& s, std::uint32_t& counted);
  bool try_lock_within(const lock_state& s, std::chrono::nanoseconds at_most, std::uint32_t& counted);

  // Nothing if this thread is not inside, or not by this object.
  void unlock(std::uint32_t& counted) noexcept;
  // Of an object that is no more, on whatever thread: as if it had been unlocked as often as it was locked.
  void forget(std::uint32_t counted) noexcept;

  const hold& held() const;
  std::uint32_t depth() const noexcept;
  bool forked() const noexcept { return face_.forked(); }

 private:
  bool inside() const noexcept;
  void enter(std::uint32_t& counted) noexcept;
  bool take_off(std::uint32_t n) noexcept;

  std_face face_;
  mutable std::mutex mutex_;  // of what follows and of each object's own count
  std::uint64_t owner_ = 0;   // a thread, and no later one: the system gives the ids of threads again
  std::uint32_t depth_ = 0;
};

// Of a client. A name is here for as long as an object has it.
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
