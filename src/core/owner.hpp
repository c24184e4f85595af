// The text that is stored with every hold and every place in the queue, for people.
//
//   shop-7 pid 812 shop order.cc:87 @1763240000123
//   the user's note, which may have any bytes and lines of its own
//
// It is read back for listings only. Anybody may have written what an engine stores: text of another form is not from Tyer,
// and is shown as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tyer::core {

using wall_time = std::chrono::system_clock::time_point;

// The part that is the same for all locks of a client.
std::string owner_identity(std::string_view host, std::uint64_t pid, std::string_view label);

std::string owner_text(std::string_view identity, std::string_view file, std::uint32_t line, wall_time since,
                       std::string_view note);

struct owner {
  std::string_view host;
  std::uint64_t pid = 0;
  std::string_view label, site, note;
  std::optional<wall_time> since;
};

// Views into the text. Nothing if it has another form.
std::optional<owner> read_owner(std::string_view text) noexcept;

// The text without the time and the note.
std::string_view owner_in_short(std::string_view text) noexcept;

}  // namespace tyer::core
