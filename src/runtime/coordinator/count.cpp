// The coordinator's counters: each event is counted once, where it is decided.
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/hold_state.hpp"
#include "runtime/probes.hpp"

namespace tyer::runtime {

namespace {

acquire_end end_with(const detail::hold_state& h) noexcept {
  if (h.handoffs() > 0) return acquire_end::handed_off;
  return h.at_coordinator != nullptr && h.at_coordinator->queued ? acquire_end::queued : acquire_end::granted;
}

// From the code that an acquire is answered with.
acquire_end end_with(const tyer::failure& f) noexcept {
  for (const auto& [code, how] : {std::pair{errc::cancelled, acquire_end::cancelled},
                                  {errc::unavailable, acquire_end::unavailable},
                                  {errc::closed, acquire_end::closed},
                                  {errc::refused, acquire_end::refused},
                                  {errc::name_conflict, acquire_end::refused},
                                  {errc::unsupported, acquire_end::refused},
                                  {errc::over_limit, acquire_end::refused},
                                  {errc::permits_differ, acquire_end::refused}}) {
    if (f == code) return how;
  }
  return acquire_end::failed;
}

}  // namespace

void coordinator::count_answer(const acquisition& w, const tyer::failure& f, const detail::hold_state* h) noexcept {
  if (!board_.counts()) return;
  const auto end = h != nullptr ? end_with(*h) : f ? end_with(f) : w.waits ? acquire_end::timed_out : acquire_end::busy;
  const auto now = h != nullptr ? h->granted_at() : clock_.now();
  const auto took = w.since == lease::time_point{} ? lease::duration::zero() : now - w.since;
  board_.acquire_ended(group_of(*w.what), end, took);
  probes::acquire(w.what->name, end, took);
}

void coordinator::count_end(const detail::hold_state& h, lease::time_point now,
                            std::optional<loss_reason> lost) noexcept {
  const auto held = now - h.granted_at();
  board_.hold_ended(group_of(h.what()), held, lost);
  lost ? probes::lost(h.what().name, held, *lost) : probes::release(h.what().name, held);
}

void coordinator::count_return(const presence::change& how) noexcept {
  if (!how.back) return;
  board_.came_back(how.what == presence::news::another ? reconnection::other_server : reconnection::same_server);
}

// Entries that are renewed early with a batch are not late. Entries that were hurried had no planned time.
void coordinator::count_renewals(std::span<lease::kept* const> entries, lease::time_point now) noexcept {
  if (!board_.counts()) return;
  for (const lease::kept* e : entries) {
    if (e->due == lease::time_point::min()) continue;
    const auto late = std::max(now - e->due, lease::duration::zero());
    board_.renewal_left(late);
    probes::renewal(late);
  }
}

}  // namespace tyer::runtime
