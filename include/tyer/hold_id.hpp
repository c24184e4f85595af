// Identifies a hold, where two holds may have the same token.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {

// Plain text: 34 lower-case hex digits. The first 32 are random, chosen before the lock was asked for; they are what the
// engine knows the hold by. The last two count the hand-offs inside the client since the engine's grant, so that every
// hold has an id of its own. Neither a renewal nor a conversion changes it.
//
// It is not a secret: everybody who may read the engine can read it.
class hold_id {
 public:
  static constexpr std::size_t length = 34;

  constexpr hold_id() noexcept = default;  // empty: the id of no hold

  // From text(); any other input gives the empty id.
  [[nodiscard]] static constexpr hold_id from(std::string_view text) noexcept {
    constexpr auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    hold_id id;
    if (text.size() == length && std::all_of(text.begin(), text.end(), is_digit)) {
      std::copy(text.begin(), text.end(), id.digits_.begin());
    }
    return id;
  }

  explicit constexpr operator bool() const noexcept { return digits_[0] != '\0'; }

  // Empty for the empty id.
  std::string text() const { return std::string{view()}; }
  // The same; valid for as long as this object lives.
  constexpr std::string_view view() const& noexcept { return {digits_.data(), *this ? digits_.size() : 0}; }
  std::string_view view() const&& = delete;

  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const hold_id& id) {
    return out << id.view();
  }

  friend constexpr auto operator<=>(const hold_id&, const hold_id&) = default;

 private:
  std::array<char, length> digits_{};
};

}  // namespace v1
}  // namespace tyer

template <>
struct std::hash<tyer::hold_id> {
  std::size_t operator()(const tyer::hold_id& id) const noexcept { return std::hash<std::string_view>{}(id.view()); }
};
