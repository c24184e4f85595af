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
