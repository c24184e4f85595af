// Reads what the statements of any dialect answer. Rows of a read and of a listing:
//
//   kind | cells behind it
//   -----+-----------------------------------------------------------------------------------------------------------------
//   0    | name, version, joins, token, expires, session, claimed, hold, owner, state        of a name
//   1    | name, id, order, 0, expires, …, body                                              the first places
//   2    | name, id, order, how many are ahead, expires, …, body                             the own place
//   3    | -, how many places there are, …, the server's time in `token`
//   4    | -, …, a number in `token`                                                         it was done
//   5    | -, id, order, 0, the version it found in `token`, expires, …, body              a place that was made since; `claimed`:
//        |                                                                                  there is a holder in a column
#pragma once

#include "engines/sql/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tyer::sql {

record reading(const answers&);
// What the answer tells of a name although something else was asked for; nothing: it does not.
std::optional<record> beside(const answers&);
// The number of a row of kind 4.
std::optional<std::int64_t> done(const row&);

// By their names.
std::map<std::string, record> listing(const answers&);

struct kept_place {
  id who;
  std::string name;
  bool look = false;  // something of the name is over
};
std::vector<kept_place> kept_places(const answers&);
std::vector<id> ids(const answers&);

}  // namespace tyer::sql
