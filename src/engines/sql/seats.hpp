// Seats as bytes: what a row keeps of holds that are not plain, and of places in the queue.
//
// A version comes first, so that a later layout is told apart and not misread. Numbers are little-endian.
#pragma once

#include "engines/kit/resource.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sql {

using kit::seat;

inline constexpr std::uint8_t seats_layout = 1;

// How a hold begins among others: what is unchanged as long as nobody else has touched it, and at its end what a keep() changes,
// where it lies.
struct seat_head {
  kit::id who;
  seat::state is = seat::state::holding;
  bool upgrading = false;
  std::uint64_t part = 0;
  kit::store_time expires = {};
  std::int64_t lease = 0;

  static constexpr std::size_t expires_at = 26, lease_at = 34, size = 42;  // in bytes()
  static seat_head of(const seat& s) { return {s.who, s.is, s.upgrading, s.part, s.expires, s.lease}; }
  std::string bytes() const;
};

std::string write_seats(const std::vector<seat>&);
// Nothing: it was not written by this version of Tyer.
std::optional<std::vector<seat>> read_seats(std::string_view);

std::string write_place(const seat&);
std::optional<seat> read_place(std::string_view);

}  // namespace tyer::sql
