#include "engines/sql/dialect.hpp"

#include "core/id.hpp"
#include "core/token.hpp"
#include "engines/sql/copies.hpp"
#include "engines/sql/schema.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tyer::sql {

namespace {

constexpr std::size_t reason_max = 3000;  // of the 8,000 characters, two for each byte, that PostgreSQL passes on

value text(std::string_view t) { return std::string{t}; }
value text(const id& i) { return i ? value{std::string{i.view()}} : value{null{}}; }
value number_of(std::uint64_t n) { return static_cast<std::int64_t>(n); }
value number_or_null(std::int64_t n) { return n != 0 ? value{n} : value{null{}}; }

bytes_list bytes_of(const std::vector<id>& all) {
  bytes_list list;
  for (const id& who : all) list.emplace_back(who.view());
  return list;
}

failure not_now(const std::string& words) { return kit::no(why::not_sent, errc::unavailable, words); }
failure never(const std::string& words) { return kit::no(why::refused, errc::refused, words); }

std::optional<failure> unless_known(std::int64_t version) {
  if (version > schema_version)
    return never("the tables of Tyer were made by a later version of it: bring this client up to date");
  if (version == schema_version) return std::nullopt;
  return never("the tables of Tyer are of version " + std::to_string(version) + " and this client needs " +
               std::to_string(schema_version) +
               ": drop them while nobody locks, and make them anew with tyer schema --apply, or connect once with "
               "?schema=apply");
}

// Not by an initializer list, which copies (copies.hpp).
template <class... V>
std::vector<value> values(V... v) {
  std::vector<value> all;
  all.reserve(sizeof...(V));
  (all.emplace_back(std::move(v)), ...);
  return all;
}

exchange one(const char* text, std::vector<value> v) {
  exchange e;
  e.emplace_back(statement{.text = text, .values = std::move(v)});
  return e;
}

exchange said(catalogue::several texts, const std::vector<value>& v) {
  exchange all;
  for (const char* text : texts) all.push_back({text, copy_of(v)});
  return all;
}

}  // namespace

dialect::dialect(const setting& s, const tongue& t)
    : setting_(s), of_(t), say_(t.say), listen_(t.listen != nullptr ? t.listen + core::to_hex(client()) : "") {}

// An id begins with its client's nonce.
std::string dialect::client() const {
  std::string raw(sizeof setting_.nonce, '\0');
  std::memcpy(raw.data(), &setting_.nonce, raw.size());
  return raw;
}

// What is set for a session would be another client's behind a pooler.
exchange dialect::greeting(bool keeps_session) const {
  exchange all;
  if (setting_.make_tables && no_tables_) all = said(say_.ddl, {});
  for (auto& one : keeps_session ? of_.bounds(setting_.request_timeout) : collect_bells())
    all.push_back(std::move(one));
  if (keeps_session && !listen_.empty()) all.push_back({listen_.c_str()});
  all.push_back({say_.facts});
  all.push_back({say_.schema});
  return all;
}

std::optional<failure> dialect::greeted(const answers& a, server& s) const {
  for (const auto& one : a) {
    if (!one.failed) continue;
    no_tables_ = of_.no_tables(one);
    if (no_tables_) return without_tables();
    return what(one) == meaning::refused ? never("the database refused to be greeted: " + one.words)
                                         : not_now("the database could not be greeted: " + one.words);
  }
  const row& facts = a[a.size() - 2].rows.at(0);
  s.version = facts[0].bytes;
  s.clock = std::chrono::microseconds{facts[1].number};
  if (auto wrong = of_.learn(facts, s); !wrong.empty()) return not_now(wrong);
  no_tables_ = a.back().rows.empty();  // whoever makes them says last of which version they are
  return no_tables_ ? without_tables() : unless_known(a.back().rows[0][0].number);
}

failure dialect::without_tables() const {
  if (setting_.make_tables) return not_now("there are no tables of Tyer in this database yet: they are being made");
  return never(
      "there are no tables of Tyer in this database: make them with tyer schema --apply, or connect once with "
      "?schema=apply, as a user who may create tables");
}

exchange dialect::take(std::string_view name, const id& who, milliseconds ttl, std::uint64_t above,
                       std::string_view owner, std::uint32_t places) const {
  return one(say_.take, values(text(name), text(who), micros(ttl), number_of(above), text(owner),
                               number_of(core::part_max), number_of(places)));
}

std::optional<std::uint64_t> dialect::taken(const answers& a) const {
  const auto part = number(a.back());
  if (!part) return std::nullopt;
  return static_cast<std::uint64_t>(*part);
}

exchange dialect::give_back(std::string_view name, const id& who, const std::vector<std::int64_t>& own,
                            std::uint32_t places) const {
  return one(say_.give_back, values(text(name), text(who), own, number_of(places)));
}

exchange dialect::read(std::string_view name, const id& own, std::uint32_t places) const {
  return one(say_.read, values(text(name), text(own), number_of(places)));
}

exchange dialect::join(std::string_view name, const place& p, milliseconds ttl, std::uint32_t places) const {
  auto all = said(say_.join, values(text(name), text(p.who), micros(ttl), p.body, number_of(places)));
  if (!say_.reads_along) all.push_back(read(name, p.who, places).front());
  return all;
}

exchange dialect::write(const change& c) const {
  exchange all;
  const bool held = static_cast<bool>(c.hold);
  value extended = null{}, until = null{}, body = null{};
  if (c.extended) {
    extended = text(c.extended->who);
    until = micros(c.extended->expires);
    body = c.extended->body;
  }
  const auto gone = bytes_of(c.gone);
  if (!c.exists) all.push_back({say_.create, values(text(c.name))});
  all.push_back({say_.write,
                 values(text(c.name), c.guard, text(c.hold), std::int64_t{c.claimed}, number_of(c.token),
                        micros(c.expires), number_or_null(c.session), held ? value{c.owner} : value{null{}},
                        c.state ? value{*c.state} : value{null{}}, c.joins, std::int64_t{c.crowd}, gone, c.bumped,
                        std::move(extended), std::move(until), std::move(body)),
                 false, true});
  if (say_.clear != nullptr && !gone.empty()) all.push_back({say_.clear, values(gone), true});
  return all;
}

std::optional<std::uint64_t> dialect::written(const answers& a) const {
  const auto at = std::ranges::find(a, say_.write, &answered::by);
  const auto joins = at != a.end() ? number(*at) : std::nullopt;
  if (!joins) return std::nullopt;
  return static_cast<std::uint64_t>(*joins);
}

exchange dialect::begin_session(std::int64_t session, milliseconds ttl) const {
  return one(say_.begin_session, values(session, micros(ttl)));
}

exchange dialect::renew_session(std::int64_t session, milliseconds ttl) const {
  return one(say_.renew_session, values(session, micros(ttl)));
}

exchange dialect::drop_session(std::int64_t session) const { return one(say_.drop_session, values(session)); }

exchange dialect::end_sessions(const std::vector<std::int64_t>& all) const {
  auto both = one(say_.end_sessions, values(all));
  both.push_back({say_.how_sessions_are, values(all)});
  return both;
}

// A hold and its name are one value, in the order of names: whoever extends several comes by their rows in the same order.
exchange dialect::extend(std::int64_t session, const std::vector<std::int64_t>& own, milliseconds ttl,
                         std::span<const named> all) const {
  std::vector<const named*> in_order;
  for (const auto& n : all) in_order.push_back(&n);
  std::ranges::sort(in_order, {}, &named::name);
  bytes_list holds;
  for (const auto* n : in_order) holds.push_back(std::string{n->who.view()} + n->name);
  return said(say_.extend, values(number_or_null(session), micros(ttl), std::move(holds), own));
}

// Each is minor: of one that fails the decider finds out how it is.
exchange dialect::extend_seats(std::string_view name, std::int64_t session, milliseconds ttl,
                               std::span<const seat_head> all) const {
  exchange each;
  for (const seat_head& was : all) {
    seat_head is = was;
    if (session != 0) is.lease = session;
    each.push_back({say_.extend_seat,
                    values(text(name), was.bytes(), micros(was.expires), is.bytes().substr(seat_head::lease_at),
                           micros(ttl), std::int64_t{seats_layout}),
                    true});
  }
  return each;
}

std::optional<store_time> dialect::seat_extended(const answered& a) const {
  const auto until = a.failed ? std::nullopt : number(a);
  if (!until) return std::nullopt;
  return at_micros(*until);
}

exchange dialect::extend_places(milliseconds ttl, std::span<const named> all) const {
  std::vector<id> who;
  for (const auto& n : all) who.push_back(n.who);
  std::ranges::sort(who);
  return said(say_.extend_places, values(micros(ttl), bytes_of(who)));
}

exchange dialect::list(std::string_view from, std::string_view to, std::uint32_t names) const {
  return one(say_.list, values(text(from), text(to), number_of(names)));
}

// A bell is the id, what it is, and the reason.
exchange dialect::ring(std::span<const bell> all) const {
  bytes_list payloads;
  for (const auto& b : all) {
    payloads.push_back(std::string{b.who.view()} + static_cast<char>('0' + static_cast<int>(b.what)) +
                       b.reason.substr(0, reason_max));
  }
  return one(say_.ring, values(std::move(payloads)));
}

exchange dialect::look_for_bells() const { return said(say_.look_for_bells, values(client())); }

exchange dialect::forget_bells(const std::set<std::int64_t>& seen) const {
  return one(say_.forget_bells, values(client(), number_list(seen.begin(), seen.end())));
}

exchange dialect::collect_bells() const {
  if (say_.collect_bells == nullptr) return {};
  return one(say_.collect_bells, values(client()));
}

// Their numbers, if they have any, come behind them.
std::vector<bell> dialect::bells(const answers& a) {
  std::vector<bell> all;
  for (const auto& one : a) {
    for (const row& r : one.rows) {
      const std::string_view payload = r[0].bytes;
      if (payload.size() < 17 || payload[16] < '0' || payload[16] > '2') continue;
      all.push_back({id::from(payload.substr(0, 16)), static_cast<kit::notice::kind>(payload[16] - '0'),
                     std::string{payload.substr(17)}, r.size() > 1 ? r[1].number : 0});
    }
  }
  return all;
}

// What one of them does not tell says nothing of the others.
exchange dialect::questions() const {
  exchange all;
  for (const char* text : say_.questions) all.push_back({.text = text, .minor = true});
  return all;
}

std::vector<seam::finding> dialect::findings(const answers& a, bool keeps_session) const {
  auto all = of_.findings(a);
  if (!keeps_session && of_.pooled != nullptr) all.push_back({of_.pooled, of_.pooled_advice, 1});
  return all;
}

exchange dialect::sweep(milliseconds unused, std::string_view behind) const {
  auto all = one(say_.sweep_end, values(text(behind)));
  for (auto& each : said(say_.sweep, values(micros(unused), text(behind)))) all.push_back(std::move(each));
  for (auto& each : all) each.minor = true;
  return all;
}

std::optional<std::string> dialect::swept_to(const answers& a) {
  if (a.front().rows.empty()) return std::nullopt;
  return a.front().rows[0].at(0).bytes;
}

exchange dialect::sweep_rest(milliseconds unused) const {
  auto all = said(say_.sweep_rest, values(micros(unused)));
  for (auto& each : all) each.minor = true;
  return all;
}

exchange dialect::sweep_turn(milliseconds t) const { return one(say_.sweep_turn, values(micros(t))); }

}  // namespace tyer::sql
