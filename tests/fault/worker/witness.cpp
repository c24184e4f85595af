#include "worker/witness.hpp"

#include <algorithm>

namespace fault {

witness::witness(journal& j, const tyer::hold& h, std::uint64_t number)
    : journal_(j), hold_(h), number_(number), token_(h.token()) {
  const auto returned = now_ns();
  journal_.write(
      {.t_ns = returned, .deadline_ns = ns_of(h.valid_until()), .token = token_, .hold = number_, .what = op::granted});
  callback_.emplace(h.lost(), [this] { lost(); });
  registering_ = false;
}

// The order matters: the time first, the deadline on both sides of valid(). Whatever happens in between (a renewal, a
// pause of the process), a look that is written down as wrong was wrong.
bool witness::look(op what) {
  const auto at = now_ns();
  const auto before = ns_of(hold_.valid_until());
  const bool valid = hold_.valid();
  const bool lost = hold_.lost().stop_requested();
  const auto after = ns_of(hold_.valid_until());
  const auto seen = (valid ? seen_valid : 0) | (lost ? seen_lost : 0);
  journal_.write({.t_ns = at,
                  .deadline_ns = std::max(before, after),
                  .token = token_,
                  .hold = number_,
                  .what = what,
                  .outcome = static_cast<std::uint8_t>(seen)});
  return valid;
}

void witness::releasing() {
  look(op::release);
  callback_.reset();
}

void witness::lost() {
  const auto at = now_ns();
  // Requested before we asked: when exactly, nobody knows.
  const bool too_late = registering_ && std::this_thread::get_id() == owner_;
  journal_.write({.t_ns = at,
                  .deadline_ns = ns_of(hold_.valid_until()),
                  .token = token_,
                  .hold = number_,
                  .what = op::lost,
                  .outcome = too_late});
}

}  // namespace fault
