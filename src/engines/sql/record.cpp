#include "engines/sql/record.hpp"

#include "engines/sql/seats.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

namespace {

using state = seat::state;

bool is_plain(const std::vector<seat>& holds) {
  if (holds.size() != 1) return false;
  const seat& s = holds.front();
  return s.how == kit::mode::exclusive && !s.ghost() && s.lock_delay.count() == 0 && s.times_asked == 0;
}

// Of another client, and not as it was: its session must say so, or its next renewal would take the hold for kept.
bool is_changed(const seat& before, const resource& after) {
  return std::ranges::none_of(after.holds(), [&](const seat& s) {
    return s.who == before.who && !s.ghost() && s.how == before.how && s.part == before.part;
  });
}

// When somebody should look at a name that has a state.
store_time first_end(const std::vector<seat>& holds) {
  auto first = store_time::max();
  for (const seat& s : holds) first = std::min(first, s.ghost() ? s.expires + s.lock_delay : s.expires);
  return first;
}

void put_hold(change& c, const resource& r, store_time now) {
  c.expires = now;
  if (r.holds().empty()) return;
  if (!is_plain(r.holds())) {
    c.state = write_seats(r.holds());
    c.expires = first_end(r.holds());
    return;
  }
  const seat& s = r.holds().front();
  c.hold = s.who;
  c.claimed = s.claimed();
  c.expires = s.expires;
  c.session = s.lease;
  c.owner = s.owner;
}

}  // namespace

bool holds_now(const std::vector<seat>& holds, const id& who, store_time now) {
  return std::ranges::any_of(
      holds, [&](const seat& s) { return s.who == who && !s.ghost() && (s.lease != 0 || s.expires > now); });
}

bool lies_in_columns(const resource& r) { return is_plain(r.holds()); }

std::optional<std::vector<seat>> holds_of(const record& r) {
  if (r.state) return read_seats(*r.state);
  if (!r.hold) return std::vector<seat>{};
  seat s;
  s.who = r.hold;
  s.is = r.claimed ? state::holding : state::handed_over;
  s.part = r.token;
  s.expires = r.expires;
  s.lease = r.session;
  s.owner = r.owner;
  return std::vector{std::move(s)};
}

std::optional<kit::view> view_of(const record& r, const sessions& known, const kit::limits& l) {
  auto holds = holds_of(r);
  if (!holds) return std::nullopt;
  kit::view v{resource{l}, r.now, static_cast<std::uint64_t>(r.version), static_cast<std::uint64_t>(r.joins)};
  v.name.put_floor(r.token);
  for (seat& s : *holds) {
    known.apply(s);
    v.name.put(s);
  }
  const std::size_t first = r.places.size() - (r.has_own ? 1 : 0);
  for (std::size_t i = 0; i < r.places.size(); ++i) {
    const place& p = r.places[i];
    if (i == first) v.name.skip(r.ahead - std::min(r.ahead, first));
    if (holds_now(*holds, p.who, r.now)) continue;  // its join was carried out twice
    auto s = read_place(p.body);
    if (!s) return std::nullopt;
    s->who = p.who;
    s->expires = p.expires;
    v.name.put(*std::move(s));
  }
  const std::size_t so_far = r.has_own ? r.ahead + 1 : first;
  v.name.skip(r.total - std::min(r.total, so_far));
  return v;
}

change change_of(std::string name, const record& before, const kit::view& after,
                 const std::vector<std::int64_t>& own_sessions) {
  const resource& r = after.name;
  change c{.name = std::move(name),
           .exists = before.exists,
           .guard = before.version,
           .joins = before.joins,
           .token = std::max(before.token, r.last_part())};
  put_hold(c, r, before.now);
  c.crowd = c.state.has_value() || r.waiting() > 0;
  for (const place& p : before.places) {
    const auto at = std::ranges::find(r.queue(), p.who, &seat::who);
    if (at == r.queue().end()) {
      c.gone.push_back(p.who);
    } else if (at->dirty) {
      c.extended = place{p.who, p.order, at->expires, write_place(*at)};
    }
  }
  const auto were = holds_of(before);
  for (const seat& s : *were) {
    const bool own = std::ranges::find(own_sessions, s.lease) != own_sessions.end();
    if (s.lease != 0 && !own && is_changed(s, r)) c.bumped.push_back(s.lease);
  }
  return c;
}

}  // namespace tyer::sql
