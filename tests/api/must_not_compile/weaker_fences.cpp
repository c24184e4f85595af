// A token alone does not say whose it is.
#include <tyer/tyer.hpp>

#include <string>

void tokens(tyer::fence_gate& gate, const tyer::hold& h) {
  static_cast<void>(gate.enter(h.token()));          // error: conver|matching|could not bind
  static_cast<void>(gate.enter(h.token(), h.id()));  // error: matching|too many
}

void gone(const tyer::hold& h, tyer::hold& term) {
  static_cast<void>(h.key());                       // error: no member named
  static_cast<void>(h.shared());                    // error: no member named
  static_cast<void>(tyer::election::resign(term));  // error: is not a member of|no member named
}

void dropped(const tyer::hold& h, tyer::failure& why) {
  h.fence();       // error: nodiscard
  h.confirm();     // error: nodiscard
  h.confirm(why);  // error: nodiscard
}

void dropped(const tyer::multi_hold& h, tyer::failure& why) {
  h.confirm();     // error: nodiscard
  h.confirm(why);  // error: nodiscard
}

// Each of these only makes something: what checks it is the transaction, the script or the statement.
void not_sent(const tyer::hold& h) {
  const tyer::sql_fence row{"fence", "fence_by"};
  const tyer::sql_shared_fence rows{"max_exclusive", "max_any", "exclusive_by"};
  tyer::etcd::guard_txn(h);                  // error: nodiscard
  tyer::redis_fence_arguments(h.fence());    // error: nodiscard
  row.set(h.fence());                        // error: nodiscard
  row.where(h.fence());                      // error: nodiscard
  rows.set(h.fence());                       // error: nodiscard
  rows.where(h.fence());                     // error: nodiscard
  tyer::hold_id::from("text of a hold_id");  // error: nodiscard
}
