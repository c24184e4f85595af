// A view of what is gone at the end of the statement.
#include <tyer/fence.hpp>
#include <tyer/tyer.hpp>

#include <string_view>

void misused(const tyer::hold& h) {
  const std::string_view text = h.id().view();  // error: deleted
  static_cast<void>(text);
}

void misused(const tyer::multi_mutex& several) {
  const auto parts = several.acquire().parts();  // error: deleted
  static_cast<void>(parts);
}

// The marks that a gate shows are a copy: to let somebody in there lets him in nowhere.
void misused(const tyer::fence_gate& gate, const tyer::hold& h) {
  static_cast<void>(gate.marks().enter(h.fence()));           // error: discards qualifiers|lvalue|is an rvalue
  static_cast<void>(gate.marks().enter_by_token(h.token()));  // error: discards qualifiers|lvalue|is an rvalue
}
