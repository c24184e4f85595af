// One function for each rung: takes its lock, sells one ticket, gives the lock back. False: sold out.
#pragma once

#include "ladder.hpp"

#include <tyer/mutex.hpp>

#include <optional>
#include <string>

namespace ladder {

struct workplace {
  shop& tickets;
  stories::redis& locks;
  std::string key;                   // of the lock
  std::string me;                    // this process
  std::optional<tyer::mutex> mutex;  // of the last two rungs
  std::string database;              // of the rungs on MariaDB
};

bool none(workplace& w);
bool local(workplace& w);
bool setnx(workplace& w);
bool in_finally(workplace& w);
bool setnx_expire(workplace& w);
bool expire_by_all(workplace& w);
bool getset(workplace& w);
bool set_xx(workplace& w);
bool set_nx_ex(workplace& w);
bool thread_id(workplace& w);
bool owner(workplace& w);
bool script(workplace& w);
bool renewal(workplace& w);
bool unique_index(workplace& w);
bool for_update(workplace& w);
bool unfenced(workplace& w);
bool with_tyer(workplace& w);

}  // namespace ladder
