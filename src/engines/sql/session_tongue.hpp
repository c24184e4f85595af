// What is said to a database whose sessions are the locks (docs/adr/0022-session-locks.md). The answers of every kind of database are
// read into the same few values.
#pragma once

#include "core/id.hpp"
#include "engines/sql/dialect.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sql {

// What `state` begins with in a name that is locked by sessions: no layout of seats, so whoever locks by rows refuses the name in words.
inline constexpr std::string_view session_mark = "\xff";

struct session_facts {
  std::int64_t number = 0;   // by which the server knows the session
  std::int64_t started = 0;  // the server, by its own clock, which may have been moved since
  std::string run;           // of the server, between a start and its end
};

struct wanted {
  std::string name;
  id who;
  milliseconds ttl{};
  std::uint64_t above = 0;
  std::string owner;
  milliseconds
      run_known{};  // for how long this client has known the server's run: whatever was granted before it is older
};

struct taken {
  bool won = false;                   // the lock is this session's
  std::optional<std::uint64_t> part;  // nothing, though it was won: the row says no, or there is none
};

struct session_tongue {
  exchange (*ask_facts)();
  // What is wrong with this server, if anything is.
  std::string (*learn)(const answers&, const server&, session_facts&);

  exchange (*end_when_silent)(milliseconds);  // the session; 0: it is not ended for that
  exchange (*take)(const wanted&, const session_facts&);
  exchange (*make_name)(const wanted&, const session_facts&);  // and draw its token; null: take() makes it
  taken (*came_of)(const answers&);                            // of both
  const char* give_back;                                       // name. Tells whether it was this session's
  const char* give_back_if_had;                                // the same, where that is not known
  const char* is_of_rows;  // name. Tells whether somebody has it by a row, or waits so
  const char* lengthen;    // name, hold, ttl
  const char* who_am_i;    // the number of the session
  const char* list;        // from, to, names: name, hold, token, owner, ttl
};

inline std::int64_t number_in(const answers& a) {
  return a.empty() || a.back().rows.empty() ? 0 : a.back().rows[0].at(0).number;
}

}  // namespace tyer::sql
