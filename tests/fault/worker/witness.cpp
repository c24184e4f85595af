#include "worker/witness.hpp"

#include <algorithm>
#include <span>

namespace fault {

namespace {

// The hold's own word; what was asked for only tells permits without slots from a hold that has none.
mode mode_of(const tyer::hold& h, mode asked) {
  if (asked == mode::permit || !h.slot_numbers().empty()) return mode::permit;
  return h.mode() == tyer::lock_mode::shared ? mode::shared : mode::exclusive;
}

std::uint16_t bits_of(std::span<const std::uint32_t> slots) {
  std::uint16_t bits = 0;
  for (const auto slot : slots) bits |= static_cast<std::uint16_t>(1u << std::min(slot, 15u));
  return bits;
}

}  // namespace

witness::witness(journal& j, const tyer::hold& h, std::uint64_t number)
    : journal_(j),
      hold_(h),
      number_(number),
      token_(h.token()),
      name_(j.name()),
      how_(mode_of(h, j.how())),
      slots_(bits_of(h.slot_numbers())) {
  event e = j.with_mode({.t_ns = now_ns(),
                         .deadline_ns = ns_of(h.valid_until()),
                         .token = token_,
                         .hold = number_,
                         .what = op::granted,
                         .slots = slots_});
  e.how = how_;
  journal_.write(e);
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
                  .outcome = static_cast<std::uint8_t>(seen)},
                 name_);
  return valid;
}

void witness::came_in_again(std::int64_t began) {
  journal_.write({.t_ns = began,
                  .deadline_ns = ns_of(hold_.valid_until()),
                  .token = hold_.token(),
                  .hold = number_,
                  .what = op::observed,
                  .outcome = seen_valid},
                 name_);
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
                  .outcome = too_late},
                 name_);
}

}  // namespace fault
