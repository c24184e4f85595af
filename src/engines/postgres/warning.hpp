// What a warning of the server says of the statement that it comes with. Its words may be in any language; the function of the server
// that warns is told too, and is not translated.
#pragma once

#include <cstdint>
#include <string_view>

namespace tyer::postgres {

enum class warns : std::uint8_t {
  of_nothing,  // that concerns us
  of_doubt,    // it was carried out here, and perhaps nowhere else; or it is not known what is wrong
  of_numbers   // there are few left to tell transactions apart: it was carried out
};
warns warned_of(std::string_view code, std::string_view function) noexcept;

}  // namespace tyer::postgres
