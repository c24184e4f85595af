#include "engines/postgres/sessions.hpp"

#include "core/token.hpp"
#include "engines/postgres/statements.hpp"

#include <string>

namespace tyer::postgres {

namespace {

using namespace tyer::sql;

constexpr const char* facts =
    "SELECT pg_backend_pid(), " TYER_SESSIONS_SINCE ", version() LIKE '%CockroachDB%', " TYER_RUN;
constexpr const char* silent = "SELECT set_config('idle_session_timeout', ($1::bigint)::text, false)";

// name, hold, above, owner, ttl, when the server was started, part_max, its run, for how long that is known. The token is drawn by the
// session that has the lock, so they grow in the order of the grants. A name whose last holder may not know yet that the server was
// started anew is not given.
constexpr const char* take_lock =
    "WITH t AS MATERIALIZED (SELECT pg_try_advisory_lock(" TYER_KEY(
        "$1::bytea") ") AS won),"
                     " done AS (INSERT INTO tyer_lock AS l (name, hold, claimed, token, expires, owner, session, crowd, state, version)"
                     " SELECT $1::bytea, $2::bytea, true, greatest($3::bigint, " TYER_NOW "), " TYER_NOW
                     ", $4::bytea, $5::bigint, true, " TYER_MARK
                     " || $8::bytea, 1 FROM t WHERE won"
                     " ON CONFLICT (name) DO UPDATE SET hold = excluded.hold, claimed = true, token = greatest(l.token + 1, $3, " TYER_NOW
                     "), expires = " TYER_NOW
                     ", owner = excluded.owner, session = $5, crowd = true, state = excluded.state, version = l.version + 1"
                     " WHERE l.token < $7::bigint AND CASE WHEN " TYER_IS_MARKED(
                         "l.state") " THEN l.state = excluded.state OR $9::bigint >= l.session OR " TYER_NOW
                     " >= $6::bigint + l.session"
                     " ELSE NOT l.crowd AND (l.hold IS NULL OR (l.session IS NULL AND l.expires <= " TYER_NOW
                     ")) END RETURNING token)"
                     " SELECT t.won, (SELECT token FROM done) FROM t";

exchange ask_facts() { return {{facts}}; }

std::string learn(const answers& a, const server&, session_facts& f) {
  const row& r = a.at(0).rows.at(0);
  f.number = r[0].number;
  f.started = r[1].number;
  f.run = r[3].bytes;
  return r[2].number != 0 ? "the advisory locks of CockroachDB lock nothing: leave ?lock=session out" : "";
}

exchange end_when_silent(milliseconds t) {
  exchange e;
  e.push_back({silent, {}});
  e.back().values.emplace_back(std::int64_t{t.count()});
  return e;
}

exchange take(const wanted& w, const session_facts& f) {
  exchange e;
  e.push_back({take_lock, {}});
  auto& v = e.back().values;
  v.emplace_back(w.name);
  v.emplace_back(std::string{w.who.view()});
  v.emplace_back(static_cast<std::int64_t>(w.above));
  v.emplace_back(w.owner);
  v.emplace_back(micros(w.ttl));
  v.emplace_back(f.started);
  v.emplace_back(static_cast<std::int64_t>(core::part_max));
  v.emplace_back(f.run);
  v.emplace_back(micros(w.run_known));
  return e;
}

taken came_of(const answers& a) {
  const row& r = a.back().rows.at(0);
  taken t{.won = r[0].number != 0};
  if (!r[1].is_null) t.part = static_cast<std::uint64_t>(r[1].number);
  return t;
}

}  // namespace

constinit const session_tongue own_sessions{
    .ask_facts = ask_facts,
    .learn = learn,
    .end_when_silent = end_when_silent,
    .take = take,
    .make_name = nullptr,
    .came_of = came_of,
    .give_back = "SELECT pg_advisory_unlock(" TYER_KEY("$1::bytea") ")",
    // To give back what one has not is warned of, and a warning says something else to the wire.
    .give_back_if_had = "SELECT CASE WHEN " TYER_IS_HELD(
        "$1::bytea",
        " AND p.pid = pg_backend_pid()") " THEN pg_advisory_unlock(" TYER_KEY("$1::bytea") ") ELSE false END",
    .is_of_rows =
        "SELECT count(*) FROM tyer_lock WHERE name = $1::bytea AND (crowd OR hold IS NOT NULL)"
        " AND NOT " TYER_IS_MARKED("state"),
    .lengthen =
        "UPDATE tyer_lock SET session = greatest(session, $3::bigint) WHERE name = $1::bytea AND hold = $2::bytea",
    .who_am_i = "SELECT pg_backend_pid()",
    .list =
        "SELECT l.name, l.hold, l.token, l.owner, l.session FROM tyer_lock l WHERE l.name >= $1::bytea"
        " AND ($2::bytea = ''::bytea OR l.name < $2) AND " TYER_IS_MARKED("l.state") " AND " TYER_IS_HELD(
            "l.name", "") " ORDER BY l.name LIMIT $3::bigint"};

}  // namespace tyer::postgres
