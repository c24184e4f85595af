// A lock for up to N holders at a time.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/options.hpp>

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string_view>

namespace tyer {
inline namespace v1 {

// N permits; a hold has one of them, or k at once.
//
//   tyer::semaphore slots{client, "render-farm", 3};
//   tyer::hold h = slots.acquire();                    // one of three; h.slot() is 0, 1 or 2
//   tyer::hold two = slots.permits(2).try_acquire();   // two at once, or none
//
// Every permit has its own lease: those of a holder that died come back when its ttl is over. Unlike a counting semaphore's,
// a permit is given back by its hold and by nothing else, so nobody can release too often.
//
// First come, first served: a waiter for many permits is not overtaken by waiters for few.
//
// All users of a name must give the same N. While anybody holds with one N, an acquire with another is refused
// (errc::permits_differ, whose words name the N in use); when nobody holds, the next who is granted decides.
//
// Fencing: slots are fenced one by one, since holders of different slots do not conflict (`slot_gates`, <tyer/fence.hpp>).
//
// Thread safety: everything may be called from any thread.
class TYER_EXPORT semaphore : public acquirable {
 public:
  // acquire() takes one permit. Throws invalid_name, invalid_option (unless 1 <= permits <= 65,536), unsupported.
  semaphore(const client& owner, std::string_view name, std::uint32_t permits, lock_options options = lock_options(),
            std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  semaphore(const client&&, std::string_view, std::uint32_t, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second. Several names: multi_mutex.
  semaphore(const client&, std::initializer_list<std::string_view>, std::uint32_t, lock_options = {},
            std::source_location = {}) = delete;

  // k permits at once, all or none. Throws invalid_option unless 1 <= k <= max().
  [[nodiscard]] acquirable permits(std::uint32_t k) const;

  std::uint32_t(max)() const noexcept;  // in parentheses: the name is a macro in some programs
};

}  // namespace v1
}  // namespace tyer
