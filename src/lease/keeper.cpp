#include "lease/keeper.hpp"

#include <algorithm>
#include <utility>

namespace tyer::lease {

std::uint32_t keeper::queue_for(core::fate as, duration ttl, duration interval, std::uint32_t group) {
  const auto same = [&](const queue& q) {
    return q.as == as && q.ttl == ttl && q.interval == interval && q.group == group;
  };
  auto at = std::find_if(queues_.begin(), queues_.end(), same);
  if (at == queues_.end()) {
    // An empty queue is reused, so that a program with ever new ttls does not accumulate queues.
    at = std::find_if(queues_.begin(), queues_.end(), [](const queue& q) { return q.waiting.empty(); });
    if (at == queues_.end()) {
      const auto room = 3 * (queues_.size() + 1);  // regular, retry and hurried, of each kind
      if (queues_.capacity() < room) queues_.reserve(2 * room);
      at = queues_.insert(queues_.end(), queue{});
    }
    *at = queue{as, ttl, interval, group, {}, 0};
  }
  return static_cast<std::uint32_t>(at - queues_.begin());
}

void keeper::put(kept& e, core::fate as, duration ttl, duration interval, time_point due) {
  const auto queue = queue_for(as, ttl, interval, e.group);  // may throw: then the entry stays where it is
  remove(e);
  e.queue = queue;
  e.due = due;
  queues_[e.queue].waiting.push_back(e);
}

namespace {

// The interval of the queue for entries that are due after `wanted`, in steps of an eighth: so there are few queues however
// much the proven times vary, and an entry never waits long behind one that is due later.
duration step_above(duration wanted, duration regular) {
  duration interval = regular;
  while (interval / 8 * 7 >= wanted) interval = interval / 8 * 7;
  return interval;
}

}  // namespace

void keeper::add(kept& e, core::fate as, duration ttl, time_point sent, double jitter, duration proven) {
  if (proven <= duration::zero()) return retry(e, as, ttl, sent);
  const duration wanted = std::max(renew_every(std::min(proven, ttl)), renew_least);
  const auto early = std::chrono::duration_cast<duration>(wanted * (jitter / 8));
  put(e, as, ttl, step_above(wanted, renew_every(ttl)), sent + wanted - early);
}

void keeper::retry(kept& e, core::fate as, duration ttl, time_point now) {
  const duration interval = renew_retry(ttl);
  put(e, as, ttl, interval, now + interval);
}

void keeper::hurry(kept& e, core::fate as, duration ttl) { put(e, as, ttl, duration::zero(), time_point::min()); }

void keeper::remove(kept& e) noexcept {
  if (e.place.linked) queues_[e.queue].waiting.erase(e);
}

void keeper::hurry_all() noexcept {
  for (queue& q : queues_) q.hurried = q.waiting.size();
}

void keeper::on_answered(std::uint32_t group) noexcept {
  const auto at = in_flight_.find(group);
  if (at != in_flight_.end() && --at->second == 0) in_flight_.erase(at);
}

bool keeper::is_full(std::uint32_t group) const noexcept {
  const auto at = in_flight_.find(group);
  return (at == in_flight_.end() ? 0 : at->second) >= in_flight_max_;
}

// A hold goes before any waiter: a waiter that is late loses its place, a hold that is late is lost. Among equals the one
// that has been due for longest.
keeper::queue* keeper::most_urgent(time_point now) noexcept {
  queue* first = nullptr;
  const auto rank = [](const queue& q) { return std::pair{q.as != core::fate::holding, q.due()}; };
  for (queue& q : queues_) {
    q.hurried = std::min(q.hurried, q.waiting.size());
    if (q.waiting.empty() || q.due() > now || is_full(q.group)) continue;
    if (first == nullptr || rank(q) < rank(*first)) first = &q;
  }
  return first;
}

keeper::batch keeper::take(time_point now) {
  queue* const first = most_urgent(now);
  if (first == nullptr) return {core::fate::holding, duration::zero(), 0, {}};
  queue& q = *first;
  batch b{q.as, q.ttl, q.group, {}};
  b.entries.reserve(std::min(batch_max_, q.waiting.size()));  // before anything is taken out: this may throw
  const time_point along = now + q.interval / 4;
  while (!q.waiting.empty() && b.entries.size() < batch_max_ && (q.hurried > 0 || q.waiting.front()->due <= along)) {
    b.entries.push_back(q.waiting.pop_front());
    if (q.hurried > 0) --q.hurried;
  }
  return b;
}

time_point keeper::next_due() const noexcept {
  time_point first = time_point::max();
  for (const queue& q : queues_) {
    if (!q.waiting.empty() && !is_full(q.group)) first = std::min(first, q.due());
  }
  return first;
}

std::size_t keeper::size() const noexcept {
  std::size_t n = 0;
  for (const queue& q : queues_) n += q.waiting.size();
  return n;
}

}  // namespace tyer::lease
