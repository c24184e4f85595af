// A view of what is gone at the end of the statement.
#include <tyer/tyer.hpp>

#include <string_view>

void misused(const tyer::hold& h) {
  const std::string_view text = h.id().view();  // error: deleted
  static_cast<void>(text);
}
