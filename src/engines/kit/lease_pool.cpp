#include "engines/kit/lease_pool.hpp"

#include <algorithm>
#include <utility>

namespace tyer::kit {

// --- getting a lease ---

void lease_pool::use(user who, milliseconds ttl, time_point now, output& out) {
  on_time(now, out);
  if (const lease* l = fitting(ttl, now)) {
    out.told.push_back({news::kind::ready, who, l->id, l->kept, l->ttl});
    return;
  }
  const auto coming = std::ranges::find_if(asked_, [&](const asked& a) { return a.lease == 0 && a.ttl == ttl; });
  if (coming != asked_.end()) return coming->who.push_back(who);
  ask(order::verb::grant, who, 0, ttl, now, out);
}

// The lease of that length or, when there are enough, one that is a little longer. A lease of which half is over does not fit: it may
// end before it is used.
const lease_pool::lease* lease_pool::fitting(milliseconds ttl, time_point now) const noexcept {
  const lease* best = nullptr;
  std::size_t offered = 0;
  for (const lease& l : leases_) {
    if (!l.offered || l.kept + l.ttl / 2 <= now) continue;
    if (l.ttl == ttl) return &l;
    ++offered;
    if (l.ttl > ttl && l.ttl <= 2 * ttl && (best == nullptr || l.ttl < best->ttl)) best = &l;
  }
  return offered >= own_lengths_max ? best : nullptr;
}

void lease_pool::on_granted(std::uint32_t number, std::int64_t id, milliseconds ttl, time_point now, output& out) {
  const auto a = take(number);
  if (!a) {  // no user waits for it any more
    out.orders.push_back({order::verb::revoke, ++last_, id});
    return;
  }
  const bool enough = ttl >= a->ttl && a->sent + ttl > now;
  if (enough) {
    for (lease& l : leases_) l.offered &= l.ttl != ttl;
    if (std::ranges::count(leases_, true, &lease::offered) >= static_cast<std::ptrdiff_t>(leases_max)) {
      const auto age = [](const lease& l) { return l.offered ? l.kept : time_point::max(); };
      std::ranges::min_element(leases_, {}, age)->offered = false;
    }
    leases_.push_back({id, ttl, a->sent});
  } else {
    out.orders.push_back({order::verb::revoke, ++last_, id});
  }
  const auto late = no(why::not_sent, errc::unavailable, "the lease it was to live by came too late, or is too short");
  for (const user who : a->who) {
    enough ? out.told.push_back({news::kind::ready, who, id, a->sent, ttl})
           : out.told.push_back({news::kind::failed, who, 0, {}, {}, late});
  }
}

// --- keeping it ---

void lease_pool::renew(user who, std::int64_t id, time_point since, time_point now, output& out) {
  on_time(now, out);
  const lease* l = find(id);
  if (l == nullptr) return out.told.push_back({news::kind::condemned, who, id});
  if (l->kept >= since) return out.told.push_back({news::kind::kept, who, id, l->kept, l->ttl});
  const auto same = std::ranges::find_if(asked_, [&](const asked& a) { return a.lease == id && a.sent >= since; });
  if (same != asked_.end()) return same->who.push_back(who);
  ask(order::verb::renew, who, id, l->ttl, now, out);
}

void lease_pool::on_renewed(std::uint32_t number, milliseconds ttl, time_point now, output& out) {
  on_time(now, out);  // first: an expired lease stays condemned, whatever the server says
  const auto a = take(number);
  if (!a) return;
  lease* l = find(a->lease);
  if (l != nullptr && a->sent >= l->kept) {  // else a later request was confirmed already
    l->kept = a->sent;
    l->ttl = ttl;
  }
  if (l != nullptr && (ttl <= milliseconds{0} || l->end() <= now)) {
    condemn(a->lease, out);
    l = nullptr;
  }
  for (const user who : a->who) {
    l != nullptr ? out.told.push_back({news::kind::kept, who, a->lease, a->sent, ttl})
                 : out.told.push_back({news::kind::condemned, who, a->lease});
  }
}

void lease_pool::left(std::uint32_t number, time_point at) noexcept {
  const auto a = std::ranges::find(asked_, number, &asked::number);
  if (a != asked_.end()) a->sent = std::max(a->sent, at);
}

// --- what goes wrong ---

void lease_pool::on_failure(std::uint32_t number, const failure& f, time_point now, output& out) {
  on_time(now, out);
  const auto a = take(number);
  if (!a) return;
  failure wrong = f;
  // For a grant: the request that needed the lease was not sent. If the lease was granted after all, it ends by itself.
  if (a->lease == 0 && wrong.kind == why::unknown) wrong.kind = why::not_sent;
  for (const user who : a->who) out.told.push_back({news::kind::failed, who, a->lease, {}, {}, wrong});
}

void lease_pool::on_down(const failure& f, time_point now, output& out) {
  while (!asked_.empty()) on_failure(asked_.front().number, f, now, out);
}

void lease_pool::lost(std::int64_t id, time_point now, output& out) {
  on_time(now, out);
  if (find(id) != nullptr) condemn(id, out);
}

void lease_pool::condemn(std::int64_t id, output& out) {
  std::erase_if(leases_, [&](const lease& l) { return l.id == id; });
  out.told.push_back({news::kind::condemned, 0, id});
}

time_point lease_pool::due() const noexcept {
  auto first = time_point::max();
  for (const lease& l : leases_) first = std::min(first, l.end());
  for (const asked& a : asked_) {
    if (!a.impatient) first = std::min(first, a.sent + a.ttl / patience);
  }
  return first;
}

void lease_pool::on_time(time_point now, output& out) {
  for (asked& a : asked_) {
    if (a.impatient || a.sent + a.ttl / patience > now) continue;
    a.impatient = true;
    out.orders.push_back({order::verb::change_server, a.number, a.lease});
  }
  for (;;) {
    const auto over = std::ranges::find_if(leases_, [&](const lease& l) { return l.end() <= now; });
    if (over == leases_.end()) return;
    condemn(over->id, out);
  }
}

// --- what it proves ---

bool lease_pool::live(std::int64_t id, time_point now) const noexcept {
  const lease* l = find(id);
  return l != nullptr && now < l->end();
}

std::optional<milliseconds> lease_pool::proven(std::int64_t id, time_point sent, time_point now) const noexcept {
  const lease* l = find(id);
  if (l == nullptr || now >= l->end()) return std::nullopt;
  return std::chrono::floor<milliseconds>(l->end() - sent);
}

void lease_pool::close(std::span<const std::int64_t> in_use, output& out) {
  for (const lease& l : leases_) {
    if (std::ranges::find(in_use, l.id) != in_use.end()) continue;
    out.orders.push_back({order::verb::revoke, ++last_, l.id});
  }
  leases_.clear();
}

// --- helpers ---

void lease_pool::ask(order::verb v, user who, std::int64_t id, milliseconds ttl, time_point now, output& out) {
  asked_.push_back({++last_, id, ttl, now, false, {who}});
  out.orders.push_back({v, last_, id, ttl});
}

std::optional<lease_pool::asked> lease_pool::take(std::uint32_t number) {
  const auto at = std::ranges::find(asked_, number, &asked::number);
  if (at == asked_.end()) return std::nullopt;
  auto a = std::move(*at);
  asked_.erase(at);
  return a;
}

lease_pool::lease* lease_pool::find(std::int64_t id) noexcept {
  const auto at = std::ranges::find(leases_, id, &lease::id);
  return at == leases_.end() ? nullptr : &*at;
}

const lease_pool::lease* lease_pool::find(std::int64_t id) const noexcept {
  const auto at = std::ranges::find(leases_, id, &lease::id);
  return at == leases_.end() ? nullptr : &*at;
}

}  // namespace tyer::kit
