#include "engines/sql/rows.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

namespace {

enum kind { of_name, of_place, of_own, of_all, of_what_was_done, of_new_place };
// Cells of a row.
enum at {
  kind_at,
  name_at,
  version_at,
  joins_at,
  token_at,
  expires_at,
  session_at,
  claimed_at,
  hold_at,
  owner_at,
  state_at
};
constexpr int id_at = hold_at, order_at = version_at, ahead_at = joins_at, body_at = state_at;

place place_in(const row& r) {
  return {id::from(r[id_at].bytes), r[order_at].number, at_micros(r[expires_at].number), r[body_at].bytes};
}

void read_name(const row& r, record& to) {
  to.exists = true;
  to.version = r[version_at].number;
  to.joins = r[joins_at].number;
  to.token = static_cast<std::uint64_t>(r[token_at].number);
  to.expires = at_micros(r[expires_at].number);
  to.session = r[session_at].number;
  to.claimed = r[claimed_at].number != 0;
  to.hold = id::from(r[hold_at].bytes);
  to.owner = r[owner_at].bytes;
  if (!r[state_at].is_null) to.state = r[state_at].bytes;
}

void add_own(record& to, const row& r) {
  const auto own = place_in(r);
  if (std::ranges::find(to.places, own.who, &place::who) != to.places.end()) return;
  to.ahead = static_cast<std::size_t>(r[ahead_at].number);
  to.has_own = true;
  to.places.push_back(own);
}

// The rest is of before: nobody has written since if the version is the same, though others may have joined. Their joins are not
// counted then, so whoever writes finds out. If the version is another, but there was a holder and is one, it does not matter who:
// whoever lets go finds the place.
void add_new(record& to, const row& r, bool had_place) {
  const bool is_held = to.hold && r[claimed_at].number != 0;
  to.stale = to.version != r[token_at].number && !is_held;
  to.exists = true;
  ++to.joins;
  if (had_place) return;
  to.has_own = to.total > to.places.size();
  to.ahead = to.total++;
  to.places.push_back(place_in(r));
}

}  // namespace

record reading(const answers& all) {
  record to;
  const row *own = nullptr, *made = nullptr;
  for (const row& r : all.back().rows) {
    switch (r[kind_at].number) {
      case of_name: read_name(r, to); break;
      case of_place: to.places.push_back(place_in(r)); break;
      case of_own: own = &r; break;
      case of_new_place: made = &r; break;
      case of_all:
        to.total = static_cast<std::size_t>(r[version_at].number);
        to.now = at_micros(r[token_at].number);
        break;
      default: break;
    }
  }
  std::ranges::sort(to.places, {}, &place::order);
  if (own != nullptr) add_own(to, *own);
  if (made != nullptr) add_new(to, *made, own != nullptr);
  return to;
}

std::optional<record> beside(const answers& all) {
  const auto is_all = [](const row& r) { return r.size() > state_at && r[kind_at].number == of_all; };
  if (std::ranges::none_of(all.back().rows, is_all)) return std::nullopt;
  return reading(all);
}

std::optional<std::int64_t> done(const row& r) {
  if (r[kind_at].number != of_what_was_done) return std::nullopt;
  return r[token_at].number;
}

std::map<std::string, record> listing(const answers& all) {
  std::map<std::string, record> names;
  store_time now;
  for (const auto& answer : all) {
    for (const row& r : answer.rows) {
      const auto k = r[kind_at].number;
      if (k == of_all) now = at_micros(r[token_at].number);
      if (k == of_name) read_name(r, names[r[name_at].bytes]);
      if (k == of_place) names[r[name_at].bytes].places.push_back(place_in(r));
    }
  }
  for (auto& [name, r] : names) {
    r.now = now;
    r.total = r.places.size();
    std::ranges::sort(r.places, {}, &place::order);
  }
  return names;
}

std::vector<kept_place> kept_places(const answers& all) {
  std::vector<kept_place> kept;
  for (const auto& answer : all) {
    for (const row& r : answer.rows) kept.push_back({id::from(r[0].bytes), r[1].bytes, r[2].number != 0});
  }
  return kept;
}

std::vector<id> ids(const answers& all) {
  std::vector<id> found;
  for (const auto& answer : all) {
    for (const row& r : answer.rows) found.push_back(id::from(r[0].bytes));
  }
  return found;
}

}  // namespace tyer::sql
