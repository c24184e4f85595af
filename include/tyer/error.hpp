// What can go wrong, as codes (`errc`), as a value (`failure`) and as an exception (`error`).
//
// Contention is not an error: for a lock that somebody else holds, calls return an empty hold or `false`.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tyer {
inline namespace v1 {

// What went wrong, as a std::error_code of category().
enum class errc {
  lost = 1,         // the hold is over: its deadline passed, or the engine said so
  cancelled,        // requested by the caller's stop_token or cancellation slot
  unavailable,      // the engine did not answer for as long as the options, or the caller's own limit, allow
  outcome_unknown,  // the request was sent, but whether the engine acted is not known (release, evict, ask)
  refused,          // the engine answered with an error; words() are its own
  name_conflict,    // the engine has something under this name that is not a lock of ours
  over_limit,       // one of the documented limits would be exceeded
  unsupported,      // this engine, in this mode, cannot do that
  no_engine,        // no engine for this URI scheme is linked into the program
  invalid_uri,      // the URI cannot be understood; words() say where
  invalid_name,     // a name is 1 to 1024 bytes
  invalid_option,   // an option is out of its range; words() name it
  closed,           // the client was closed
  forked,           // the object came through fork(): only the parent may use it
  would_deadlock,   // a blocking call from one of Tyer's own threads, or a wait for a lock that this thread itself has
  not_held,         // the call needs a held lock
  permits_differ,   // the semaphore is in use with another number of permits; words() name it
};

// "tyer"; its codes compare equal to the std::errc with the same meaning, where one exists.
TYER_EXPORT const std::error_category& category() noexcept;
// For std::error_code, which finds it by itself.
TYER_EXPORT std::error_code make_error_code(errc) noexcept;

// True if the same call may succeed later without any change: the engine was away or silent, or a resource was exhausted for
// now. False if the call itself is wrong, and for a cancellation.
[[nodiscard]] TYER_EXPORT bool is_transient(std::error_code) noexcept;

// A code and, where there are any, the words of the engine. Converts to true if something failed.
struct [[nodiscard]] TYER_EXPORT failure {
  std::error_code code;
  std::string words;

  failure() = default;
  failure(errc c, std::string w = {}) : code(make_error_code(c)), words(std::move(w)) {}
  failure(std::error_code c, std::string w = {}) : code(c), words(std::move(w)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(code); }
  // For people: what the code means, and the words. Empty if nothing failed.
  [[nodiscard]] std::string message() const;

  bool operator==(errc c) const noexcept { return code == make_error_code(c); }
  bool operator==(std::errc c) const noexcept { return code == c; }  // of the same meaning
};

// What throwing calls throw: a failure as an exception.
class TYER_EXPORT error : public std::system_error {
 public:
  explicit error(const failure& f);

  // The engine's own words, empty if it said nothing. Never holds a password.
  const std::string& words() const noexcept { return words_; }

 private:
  std::string words_;
};

}  // namespace v1
}  // namespace tyer

template <>
struct std::is_error_code_enum<tyer::errc> : std::true_type {};
