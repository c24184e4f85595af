#include "engines/mysql/sessions.hpp"

#include "core/token.hpp"
#include "engines/mysql/statements.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace tyer::mysql {

namespace {

using namespace tyer::sql;

#define TYER_IS_OURS "IS_USED_LOCK(" TYER_KEY("$1") ") = CONNECTION_ID()"
#define TYER_GRANTED_NOW "CONCAT(" TYER_MARK ", $8)"

constexpr const char* facts = "SELECT CONNECTION_ID()";
// MariaDB leaves out what is for MySQL of such a version, and MySQL what is for MariaDB.
constexpr const char* run =
    "SELECT UNIX_TIMESTAMP(), VARIABLE_VALUE, SUBSTR(UUID(), 20, 4) FROM /*M! information_schema.GLOBAL_STATUS*/"
    " /*!80000 performance_schema.global_status*/ WHERE VARIABLE_NAME = 'Uptime'";
constexpr const char* cluster =
    "SHOW GLOBAL VARIABLES WHERE (Variable_name = 'wsrep_on' AND Value = 'ON')"
    " OR (Variable_name = 'group_replication_single_primary_mode' AND Value = 'OFF')";
constexpr const char* silent = "SET SESSION wait_timeout = $1";
constexpr std::int64_t never_s = 28'800;  // as MySQL has it

constexpr const char* lock = "SELECT GET_LOCK(" TYER_KEY("$1") ", 0)";
// name, hold, above, owner, ttl, when the server was started, part_max, its run, for how long that is known. The token is drawn by the
// session that has the lock, so they grow in the order of the grants. A name whose last holder may not know yet that the server was
// started anew is not given.
constexpr const char* draw_token =
  "UPDATE tyer_lock SET token = LAST_INSERT_ID(GREATEST(token + 1, " TYER_INT(3) ", " TYER_NOW ")), hold = $2, claimed = 1,"
  " expires = " TYER_NOW ", owner = $4, session = " TYER_INT(5) ", crowd = 1, state = " TYER_GRANTED_NOW ", version = version + 1"
  " WHERE name = $1 AND token < " TYER_INT(7) " AND " TYER_IS_OURS
  " AND ((" TYER_IS_MARKED("state") " AND (state = " TYER_GRANTED_NOW " OR " TYER_INT(9) " >= session OR " TYER_NOW " >= " TYER_INT(6) " + session))"
  " OR (state IS NULL AND crowd = 0 AND (hold IS NULL OR (session IS NULL AND expires <= " TYER_NOW "))))";
constexpr const char* create = "INSERT IGNORE INTO tyer_lock (name, expires) VALUES ($1, " TYER_NOW ")";

exchange ask_facts() { return {{facts}, {run}, {cluster}}; }

// Less than none if the clock was set back since: then MariaDB leaves out the sign of what it has in 64 bits.
std::int64_t seconds_in(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  std::uint64_t n = 0;
  std::from_chars(text.data() + sign, text.data() + text.size(), n);
  return static_cast<std::int64_t>(sign != 0 ? 0 - n : n);
}

// The server was started in this second of its clock, whatever that shows now. If it was set back to it for another start, the UUIDs
// tell the two apart: part of them is drawn anew.
std::string learn(const answers& a, const server&, session_facts& f) {
  f.number = a.at(0).rows.at(0).at(0).number;
  if (a.at(1).rows.empty()) return "the server does not tell since when it runs: leave ?lock=session out";
  const row& r = a.at(1).rows[0];
  const auto second = r.at(0).number - seconds_in(r.at(1).bytes);
  f.run = std::to_string(second) + '/' + r.at(2).bytes;
  f.started = (second + 1) * 1'000'000;
  if (a.at(2).rows.empty()) return {};
  return a.at(2).rows[0].at(0).bytes == "wsrep_on"
             ? "GET_LOCK locks one node of Galera, and no other: leave ?lock=session out"
             : "GET_LOCK locks one member of a group with several primaries, and no other: leave ?lock=session out";
}

sql::statement said(const char* text, const wanted& w, const session_facts& f) {
  sql::statement s{text, {}};
  s.values.emplace_back(w.name);
  s.values.emplace_back(std::string{w.who.view()});
  s.values.emplace_back(static_cast<std::int64_t>(w.above));
  s.values.emplace_back(w.owner);
  s.values.emplace_back(micros(w.ttl));
  s.values.emplace_back(f.started);
  s.values.emplace_back(static_cast<std::int64_t>(core::part_max));
  s.values.emplace_back(f.run);
  s.values.emplace_back(micros(w.run_known));
  return s;
}

exchange end_when_silent(milliseconds t) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(t).count();
  exchange e;
  e.push_back({silent, {}});
  e.back().values.emplace_back(std::int64_t{seconds > 0 ? seconds : never_s});
  return e;
}

exchange take(const wanted& w, const session_facts& f) {
  exchange e;
  e.push_back(said(lock, w, f));
  e.push_back(said(draw_token, w, f));
  return e;
}

exchange make_name(const wanted& w, const session_facts& f) {
  exchange e;
  e.push_back(said(create, w, f));
  e.push_back(said(draw_token, w, f));
  return e;
}

// If the lock was asked for it tells whether it was won; if the name was made it was.
taken came_of(const answers& a) {
  taken t{.won = true};
  const auto at = std::ranges::find(a, lock, &answered::by);
  if (at != a.end()) t.won = !at->rows.empty() && at->rows[0].at(0).number == 1;
  if (t.won && a.back().affected > 0) t.part = a.back().insert_id;
  return t;
}

}  // namespace

constinit const session_tongue own_sessions{
    .ask_facts = ask_facts,
    .learn = learn,
    .end_when_silent = end_when_silent,
    .take = take,
    .make_name = make_name,
    .came_of = came_of,
    .give_back = "SELECT RELEASE_LOCK(" TYER_KEY("$1") ")",
    .give_back_if_had = "SELECT COALESCE(RELEASE_LOCK(" TYER_KEY("$1") "), 0)",
    .is_of_rows =
        "SELECT COUNT(*) FROM tyer_lock WHERE name = $1 AND (crowd = 1 OR hold IS NOT NULL)"
        " AND NOT " TYER_IS_MARKED("state"),
    .lengthen = "UPDATE tyer_lock SET session = GREATEST(session, " TYER_INT(3) ") WHERE name = $1 AND hold = $2",
    .who_am_i = "SELECT CONNECTION_ID()",
    .list =
        "SELECT name, hold, token, owner, session FROM tyer_lock WHERE name >= $1 AND ($2 = '' OR name < $2)"
        " AND " TYER_IS_MARKED("state") " AND IS_FREE_LOCK(" TYER_KEY("name") ") = 0 ORDER BY name LIMIT $3"};

}  // namespace tyer::mysql
