// What the tables have of one name, what the decider sees of it, and what is written when it has decided.
//
// A plain exclusive hold lies in columns, so that one statement takes a free name and one gives it back. Anything else (shared holds,
// permits, ghosts, a lock delay, a hold that was asked for) lies in `state`, and then no column names a hold.
#pragma once

#include "engines/kit/settle.hpp"
#include "engines/sql/sessions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tyer::sql {

using kit::id;
using kit::resource;
using kit::seat;

struct place {
  id who;
  std::int64_t order = 0;
  store_time expires;
  std::string body;
};

struct record {
  store_time now;
  bool exists = false;
  std::int64_t version = 0, joins = 0;
  std::uint64_t token = 0;  // the last part that was given
  store_time expires;       // of the plain hold; else when something may be over, or was used last
  id hold;
  bool claimed = false;
  std::int64_t session = 0;
  std::string owner;
  std::optional<std::string> state;

  std::vector<place> places;  // in their order: the first, and the own one
  std::size_t ahead = 0;      // of the own place, if it is not among the first
  std::size_t total = 0;      // places
  bool has_own = false;       // the last of `places` is behind the first
  bool stale = false;         // the name was written while it was read
};

// The holds as they lie there. Nothing: a later version of Tyer has written them.
std::optional<std::vector<seat>> holds_of(const record&);

// True if a column names the hold that there is.
bool lies_in_columns(const resource&);

// Who has its turn already needs no place; who had it, and let it pass, does.
bool holds_now(const std::vector<seat>& holds, const id& who, store_time now);

// Nothing, as above.
std::optional<kit::view> view_of(const record&, const sessions&, const kit::limits&);

// What is to be written, if the version is still `guard`.
struct change {
  std::string name;
  bool exists = true;
  std::int64_t guard = 0, joins = 0;
  std::uint64_t token = 0;
  store_time expires;
  id hold;
  bool claimed = false;
  std::int64_t session = 0;
  std::string owner;
  std::optional<std::string> state;
  bool crowd = false;                // somebody waits, or there is a state
  std::vector<id> gone;              // places
  std::vector<std::int64_t> bumped;  // sessions of others whose holds this changes
  std::optional<place> extended;     // a place
};
change change_of(std::string name, const record& before, const kit::view& after,
                 const std::vector<std::int64_t>& own_sessions);

}  // namespace tyer::sql
