#include "engines/postgres/warning.hpp"

namespace tyer::postgres {

namespace {

constexpr std::string_view of_no_special_kind = "01000";

}  // namespace

// A server that was told to stop waiting for its synchronous standbys answers as if all were well, and warns: it is written here,
// and perhaps nowhere else. So whatever is not known to mean less is taken for that.
warns warned_of(std::string_view code, std::string_view function) noexcept {
  if (code != of_no_special_kind) return warns::of_nothing;
  for (const std::string_view of_numbers :
       {"GetNewTransactionId", "SetTransactionIdLimit", "GetNewMultiXactId", "SetMultiXactIdLimit"}) {
    if (function == of_numbers) return warns::of_numbers;
  }
  return warns::of_doubt;
}

}  // namespace tyer::postgres
