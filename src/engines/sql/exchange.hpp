// What is said to a database and what it says: statements with their values, answered by rows.
//
// The text of a statement is a constant of its dialect, so its address names it: a wire prepares it once. Values are `$1`, `$2` … in
// it and always parameters, never text.
#pragma once

#include "core/function.hpp"
#include "engines/kit/calls.hpp"
#include "engines/kit/store_time.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::sql {

namespace seam = tyer::engine;
using kit::failure;
using kit::milliseconds;
using kit::store_time;
using kit::time_point;
using kit::why;

// All times are numbers there.
inline std::int64_t micros(milliseconds t) noexcept { return std::chrono::microseconds{t}.count(); }
inline std::int64_t micros(store_time t) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}
inline store_time at_micros(std::int64_t t) noexcept { return store_time{std::chrono::microseconds{t}}; }

struct null {};
using bytes_list = std::vector<std::string>;
using number_list = std::vector<std::int64_t>;
// A dialect without arrays is given a list as text: numbers with commas between them; bytes as a JSON array of hexadecimal digits.
using value = std::variant<null, std::int64_t, std::string, bytes_list, number_list>;

// One cell of a row.
struct cell {
  bool is_null = true;
  std::int64_t number = 0;
  std::string bytes = {};
};
using row = std::vector<cell>;

struct statement {
  const char* text;
  std::vector<value> values = {};
  bool minor = false;    // if it fails, nothing is wrong with the others
  bool decides = false;  // if it has changed something, the exchange was carried out, whatever came of the others
};

// What one statement was answered with: rows, or why not.
struct answered {
  const char* by = nullptr;  // the statement
  std::vector<row> rows = {};
  std::uint64_t affected = 0, insert_id = 0;
  bool failed = false;
  std::string code = {};  // of the error, as the server calls it
  std::string words = {};
};

// Statements that leave together, each a transaction of its own, and are answered in their order.
using exchange = std::vector<statement>;
using answers = std::vector<answered>;

// What an error of the server means for what was asked.
enum class meaning : std::uint8_t {
  refused,       // certainly not executed, and will not be
  again,         // certainly not executed; may be the next time
  other_server,  // this server cannot write: another one can
  lost,          // perhaps executed
};

}  // namespace tyer::sql
