// Reads what the statements of any dialect answer. Rows of a read and of a listing:
//
//   kind | cells behind it
//   -----+-----------------------------------------------------------------------------------------------------------------
//   0    | name, version, joins, token, expires, session, claimed, hold, owner, state        of a name
//   1    | name, id, order, 0, expires, …, body                                              the first places
//   2    | name, id, order, how many are ahead, expires, …, body                             the own place
//   3    | -, how many places there are, …, the server's time in `token`
#pragma once

#include "engines/sql/record.hpp"

#include <map>
#include <string>
#include <vector>

namespace tyer::sql {

record reading(const answers&);

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
