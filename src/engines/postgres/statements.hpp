// The statements, as constants. Time is `clock_timestamp()`, never now(): that stands still while a statement waits for a row.
//
// Under READ COMMITTED a statement that waited for a row looks at that row again, and at nothing else: so whatever a statement
// judges lies in the row it writes, or is final (an ended session).
#pragma once

#include <array>
#include <cstddef>

namespace tyer::postgres {

struct statement {
#define TYER_NOW "(extract(epoch FROM clock_timestamp())*1000000)::bigint"
#define TYER_STARTED "(extract(epoch FROM pg_postmaster_start_time())*1000000)::bigint"

// When a process of the server dies, the others are started anew, and every session lock is gone; but the server says that it was
// started when it was. Its figures begin anew too, and tell since when. If somebody resets them, some names are given later.
#define TYER_FIGURES_SINCE "(SELECT (extract(epoch FROM stats_reset)*1000000)::bigint FROM pg_stat_bgwriter)"
#define TYER_SESSIONS_SINCE "greatest(" TYER_STARTED ", " TYER_FIGURES_SINCE ")"
// In which run of the server sessions are: two have not the same, wherever the clock was set in between.
#define TYER_RUN "concat_ws('/', " TYER_STARTED ", " TYER_FIGURES_SINCE ")"

// A name that is locked by sessions (sessions.cpp), its key, and whether some session has it. Behind the mark is the run of the server
// in which it was granted last. The key is of 64 bits: two names with one key keep each other out, and nothing worse.
#define TYER_MARK "E'\\\\xff'::bytea"
#define TYER_IS_MARKED(state) "(substr(" state ", 1, 1) IS NOT DISTINCT FROM " TYER_MARK ")"
#define TYER_KEY(name) "('x' || encode(substr(sha256(" name "), 1, 8), 'hex'))::bit(64)::bigint"
#define TYER_IS_HELD(name, by)                                                                      \
  "EXISTS (SELECT 1 FROM pg_locks p WHERE p.locktype = 'advisory' AND p.granted AND p.objsubid = 1" \
  " AND p.database = (SELECT oid FROM pg_database WHERE datname = current_database())"              \
  " AND ((p.classid::bigint << 32) | p.objid::bigint) = " TYER_KEY(name) by ")"

// What a name is like, and the first places: rows.hpp says what the columns are. Of `places` places; if `also`. Of the statement's
// snapshot, which may be older than the row that the statement has written, or not been able to write: whoever writes because of
// it compares the version.
#define TYER_READ(places, also)                                                                                  \
  "SELECT 0::bigint, name, version, joins, token, expires, coalesce(session, 0), claimed, hold, owner, state"    \
  " FROM tyer_lock WHERE name = $1::bytea" also                                                                  \
  " UNION ALL (SELECT 1, NULL, seq, 0, 0, expires, 0, false, id, NULL, body FROM tyer_wait WHERE name = $1" also \
  " ORDER BY seq LIMIT " places                                                                                  \
  "::bigint)"                                                                                                    \
  " UNION ALL SELECT 2, NULL, w.seq, (SELECT count(*) FROM tyer_wait b WHERE b.name = $1 AND b.seq < w.seq), 0," \
  " w.expires, 0, false, w.id, NULL, w.body FROM tyer_wait w WHERE w.id = $2::bytea AND w.name = $1" also        \
  " UNION ALL SELECT 3, NULL, (SELECT count(*) FROM tyer_wait WHERE name = $1), 0, " TYER_NOW                    \
  ", 0, 0, false, NULL, NULL, NULL WHERE true" also
// The number if it was done, else what there is instead.
#define TYER_DONE_OR_READ(number, places)                         \
  " SELECT 4::bigint, NULL::bytea, 0::bigint, 0::bigint, " number \
  ", 0::bigint, 0::bigint, false, NULL::bytea,"                   \
  " NULL::bytea, NULL::bytea FROM done UNION ALL " TYER_READ(places, " AND NOT EXISTS (SELECT 1 FROM done)")

  // name, hold, ttl, above, owner, part_max, places
  static constexpr const char* take =
      "WITH done AS (INSERT INTO tyer_lock AS l (name, hold, claimed, token, expires, owner, version) VALUES "
      "($1::bytea, "
      "$2::bytea, "
      "true,"
      " greatest($4::bigint, " TYER_NOW "), " TYER_NOW
      " + $3::bigint, $5::bytea, 1)"
      " ON CONFLICT (name) DO UPDATE SET hold = excluded.hold, claimed = true, owner = excluded.owner, version = "
      "l.version + 1,"
      " session = CASE WHEN l.hold = excluded.hold AND l.expires > " TYER_NOW
      " THEN l.session END,"
      " token = CASE WHEN l.hold = excluded.hold AND l.expires > " TYER_NOW
      " THEN l.token"
      " ELSE greatest(l.token + 1, $4, " TYER_NOW
      ") END,"
      " expires = CASE WHEN l.hold = excluded.hold THEN greatest(l.expires, " TYER_NOW " + $3) ELSE " TYER_NOW
      " + $3 END"
      " WHERE (l.hold = excluded.hold AND l.expires > " TYER_NOW
      ")"
      " OR (NOT l.crowd AND l.token < $6::bigint AND (l.hold IS NULL OR (l.session IS NULL AND l.expires <= " TYER_NOW
      ")))"
      " RETURNING token)" TYER_DONE_OR_READ("token", "$7");

  // name, hold, own sessions, places
  static constexpr const char* give_back =
      "WITH done AS (UPDATE tyer_lock SET hold = NULL, claimed = false, session = NULL, owner = NULL, version = "
      "version "
      "+ 1, expires "
      "= " TYER_NOW
      " WHERE name = $1::bytea AND hold = $2::bytea AND NOT crowd"
      " AND ((session IS NULL AND expires > " TYER_NOW
      ") OR session = ANY($3::bigint[])) RETURNING 1)" TYER_DONE_OR_READ("1::bigint", "$4");

  // name, own, places
  static constexpr const char* read = TYER_READ("$3", "");

  // name, id, ttl, body, places. With the version of the row that it has found, and whether that has a holder: if the snapshot has
  // another version, what it shows is over.
  static constexpr const char* join =
      "WITH w AS (INSERT INTO tyer_wait (id, name, expires, body)"
      " VALUES ($2::bytea, $1::bytea, " TYER_NOW
      " + $3::bigint, $4::bytea)"
      " ON CONFLICT (id) DO UPDATE SET expires = greatest(tyer_wait.expires, excluded.expires) RETURNING seq, expires),"
      " l AS (INSERT INTO tyer_lock AS l (name, crowd, joins, expires) VALUES ($1, true, 1, " TYER_NOW
      ")"
      " ON CONFLICT (name) DO UPDATE SET joins = l.joins + 1, crowd = true RETURNING version, hold IS NOT NULL AS "
      "held) " TYER_READ(
          "$5", "") " UNION ALL SELECT 5, NULL, w.seq, 0, l.version, w.expires, 0, l.held, $2, NULL, $4 FROM w, l";

  // name
  static constexpr const char* create =
      "INSERT INTO tyer_lock (name, expires) VALUES ($1::bytea, " TYER_NOW ") ON CONFLICT (name) DO NOTHING";

  // name, guard, hold, claimed, token, expires, session, owner, state, joins, crowd, gone, bumped, extended, until, body
  static constexpr const char* write =
      "WITH l AS (UPDATE tyer_lock SET hold = $3::bytea, claimed = $4::bigint <> 0, token = $5::bigint, expires = "
      "$6::bigint,"
      " session = $7::bigint, owner = $8::bytea, state = $9::bytea, version = version + 1,"
      " crowd = (joins <> $10::bigint OR $11::bigint <> 0) WHERE name = $1::bytea AND version = $2::bigint RETURNING "
      "joins),"
      " d AS (DELETE FROM tyer_wait WHERE id = ANY($12::bytea[]) AND EXISTS (SELECT 1 FROM l)),"
      " s AS (UPDATE tyer_session SET generation = generation + 1 WHERE id = ANY($13::bigint[]) AND EXISTS (SELECT 1 "
      "FROM l)),"
      " p AS (UPDATE tyer_wait SET expires = greatest(expires, $15::bigint), body = $16::bytea"
      " WHERE id = $14::bytea AND EXISTS (SELECT 1 FROM l))"
      " SELECT joins FROM l";

  // session, ttl
  // Tells the generation, and by the same number which server it is: behind a pooler nothing else tells that it is another one.
  static constexpr const char* begin_session = "INSERT INTO tyer_session (id, expires) VALUES ($1::bigint, " TYER_NOW
                                               " + $2::bigint) RETURNING generation + " TYER_STARTED;
  // Either this or end_sessions comes first: both write the row, and whichever waits looks at it again.
  static constexpr const char* renew_session = "UPDATE tyer_session SET expires = greatest(expires, " TYER_NOW
                                               " + $2::bigint) WHERE id = $1::bigint AND NOT ended"
                                               " RETURNING generation + " TYER_STARTED;
  static constexpr const char* drop_session = "DELETE FROM tyer_session WHERE id = $1::bigint";
  // sessions
  static constexpr const char* end_sessions =
      "UPDATE tyer_session SET ended = true WHERE id = ANY($1::bigint[]) AND NOT ended AND expires <= " TYER_NOW;
  static constexpr const char* how_sessions_are =
      "SELECT id, expires, ended FROM tyer_session WHERE id = ANY($1::bigint[])";

  // session, ttl, holds (each with its name behind it), own sessions
  static constexpr const char* extend =
      "UPDATE tyer_lock l SET session = coalesce($1::bigint, l.session), expires = greatest(l.expires, " TYER_NOW
      " + $2::bigint),"
      " version = l.version + 1 FROM unnest($3::bytea[]) k (hold)"
      " WHERE l.name = substr(k.hold, 17) AND l.hold = substr(k.hold, 1, 16) AND l.claimed AND l.expires > " TYER_NOW
      " AND (l.session IS NULL OR l.session = ANY($4::bigint[])) RETURNING l.hold";

// As it lies in the state: little-endian.
#define TYER_BYTE(n, i) "substr(int8send(" n "), " #i ", 1)"
#define TYER_BYTES(n)                                                                                           \
  TYER_BYTE(n, 8)                                                                                               \
  " || " TYER_BYTE(n, 7) " || " TYER_BYTE(n, 6) " || " TYER_BYTE(n, 5) " || " TYER_BYTE(n, 4) " || " TYER_BYTE( \
      n, 3) " || " TYER_BYTE(n, 2) " || " TYER_BYTE(n, 1)

  // name, head, its time, session as it lies, ttl, layout. Tells until when. Counted from when the statement began: one that waited
  // for the row gives a shorter lease.
  static constexpr const char* extend_seat =
      "WITH t AS MATERIALIZED (SELECT greatest($3::bigint, " TYER_NOW
      " + $5::bigint) AS until)"
      " UPDATE tyer_lock l SET version = l.version + 1,"
      " state = overlay(l.state placing " TYER_BYTES("t.until") " || $4::bytea from position($2::bytea in l.state) + 26)"
      " FROM t WHERE l.name = $1::bytea AND position($2 in l.state) > 0 AND get_byte(l.state, 0) = $6::bigint"
      " AND $3 > " TYER_NOW " RETURNING t.until";

// A hint, of the snapshot: nothing is taken from anybody because of it.
#define TYER_LIVES_BY_SESSION \
  "EXISTS (SELECT 1 FROM tyer_session s WHERE s.id = l.session AND NOT s.ended AND s.expires > " TYER_NOW ")"

  // ttl, ids. Of the queue only its head is looked at: each of a thousand would else look at a thousand.
  static constexpr const char* extend_places =
      "UPDATE tyer_wait w SET expires = greatest(w.expires, " TYER_NOW
      " + $1::bigint) FROM unnest($2::bytea[]) k (id)"
      " WHERE w.id = k.id AND w.expires > " TYER_NOW
      " RETURNING w.id, w.name,"
      " EXISTS (SELECT 1 FROM tyer_lock l WHERE l.name = w.name AND ((l.hold IS NULL AND l.state IS NULL)"
      " OR (l.expires <= " TYER_NOW " AND NOT " TYER_LIVES_BY_SESSION
      "))) OR coalesce((SELECT h.expires FROM tyer_wait h WHERE h.name = w.name ORDER BY h.seq LIMIT 1) <= " TYER_NOW
      ", false)";

  // from, to, names
  static constexpr const char* list =
      "WITH n AS (SELECT * FROM tyer_lock WHERE name >= $1::bytea AND ($2::bytea = ''::bytea OR name < $2)"
      " AND (hold IS NOT NULL OR crowd) AND NOT " TYER_IS_MARKED("state")
      " ORDER BY name LIMIT $3::bigint)"
      " SELECT 0::bigint, name, version, joins, token, expires, coalesce(session, 0), claimed, hold, owner, state FROM "
      "n"
      " UNION ALL SELECT 1, w.name, w.seq, 0, 0, w.expires, 0, false, w.id, NULL, w.body FROM tyer_wait w JOIN n ON "
      "n.name = w.name"
      " UNION ALL SELECT 3, NULL, 0, 0, " TYER_NOW ", 0, 0, false, NULL, NULL, NULL";

  // bells. In a transaction of its own that waits for no disk: those that notify commit one after the other. The channel is the
  // client's, by the first half of the id; the payload is text.
  // For whoever does not hear because of a pooler they are put into a table.
  static constexpr const char* ring =
      "WITH b AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true), substr(bell, 1, 8) AS client, bell"
      " FROM unnest($1::bytea[]) b (bell)),"
      " c AS MATERIALIZED (SELECT DISTINCT client FROM tyer_bell WHERE bell IS NULL AND client IN (SELECT client FROM "
      "b)),"
      " t AS (INSERT INTO tyer_bell (client, rung, bell) SELECT client, " TYER_NOW
      ", bell FROM b WHERE client IN (SELECT client FROM c))"
      " SELECT pg_notify('tyer_' || encode(client, 'hex'), encode(bell, 'hex')) FROM b"
      " WHERE client NOT IN (SELECT client FROM c)";
  // client. An entry without a bell says that bells are put here.
  static constexpr const char* collect_bells =
      "WITH before AS (DELETE FROM tyer_bell WHERE client = $1::bytea AND bell IS NULL)"
      " INSERT INTO tyer_bell (client, rung) VALUES ($1, " TYER_NOW ")";
  static constexpr const char* look_for_bells =
      "SELECT bell, seq FROM tyer_bell WHERE client = $1::bytea AND bell IS NOT NULL ORDER BY seq LIMIT 1000";
  // client, those that were seen and no others: one whose number was drawn earlier may be rung only now.
  static constexpr const char* forget_bells =
      "DELETE FROM tyer_bell WHERE client = $1::bytea AND seq = ANY($2::bigint[])";

// There is no index by time, which would make every update of a row dearer: so one client looks at all, a thousand at a time.
#define TYER_NEXT_NAMES "(SELECT name FROM tyer_lock WHERE name > $2::bytea ORDER BY name LIMIT 1000) n"
#define TYER_SWEEP(which)                                                          \
  "DELETE FROM tyer_lock WHERE name IN (SELECT l.name FROM " TYER_NEXT_NAMES       \
  " JOIN tyer_lock l ON l.name = n.name WHERE " which " AND l.expires < " TYER_NOW \
  " - $1::bigint FOR UPDATE OF l SKIP LOCKED) AND expires < " TYER_NOW " - $1"
  // behind
  static constexpr const char* sweep_end =
      "SELECT name FROM tyer_lock WHERE name > $1::bytea ORDER BY name OFFSET 999 LIMIT 1";
  // for how long, behind
  static constexpr const char* sweep_names =
      TYER_SWEEP("l.hold IS NULL AND NOT l.crowd") " AND hold IS NULL AND NOT crowd";
  static constexpr const char* sweep_marked =
      TYER_SWEEP(TYER_IS_MARKED("l.state") " AND NOT " TYER_IS_HELD("l.name", ""));
  // for how long
  static constexpr const char* sweep_sessions =
      "DELETE FROM tyer_session WHERE id IN (SELECT id FROM tyer_session WHERE expires < " TYER_NOW
      " - $1::bigint LIMIT 10000 FOR UPDATE SKIP LOCKED) AND expires < " TYER_NOW " - $1";
  // Who collects says so every ten minutes.
  static constexpr const char* sweep_bells =
      "DELETE FROM tyer_bell WHERE seq IN (SELECT seq FROM tyer_bell WHERE rung < " TYER_NOW
      " - least($1::bigint, CASE WHEN bell IS NULL THEN 3600000000 ELSE 600000000 END) LIMIT 10000 FOR UPDATE SKIP "
      "LOCKED)";
  // for how long nobody else looks. The row of no session says until when.
  static constexpr const char* sweep_turn = "INSERT INTO tyer_session AS s (id, expires) VALUES (0, " TYER_NOW
                                            " + $1::bigint) ON CONFLICT (id) DO UPDATE SET expires = " TYER_NOW
                                            " + $1 WHERE s.expires <= " TYER_NOW " RETURNING 1";

  // for how long, behind. Names that somebody has held, shared or waited for, and nobody has touched since.
  static constexpr const char* stale_names =
      "SELECT l.name FROM " TYER_NEXT_NAMES
      " JOIN tyer_lock l ON l.name = n.name"
      " WHERE (l.crowd OR l.hold IS NOT NULL) AND NOT " TYER_IS_MARKED(
          "l.state") " AND l.expires < " TYER_NOW " - $1::bigint AND NOT " TYER_LIVES_BY_SESSION " LIMIT 100";

  static constexpr const char* schema = "SELECT version FROM tyer_schema";
  static constexpr const char* facts =
      "SELECT current_setting('server_version'), " TYER_NOW
      ", extract(epoch FROM pg_postmaster_start_time())::text,"
      " pg_is_in_recovery(), (SELECT oid::bigint FROM pg_database WHERE datname = current_database())";
  // ms
  static constexpr const char* bounds =
      "SELECT set_config('lock_timeout', $1::text, false), set_config('statement_timeout', $2::text, false),"
      " set_config('default_transaction_isolation', 'read committed', false),"
      " set_config('client_min_messages', 'warning', false)";
  static constexpr const char* questions =
      "SELECT current_setting('synchronous_commit'), current_setting('fsync'), "
      "current_setting('synchronous_standby_names'),"
      " (SELECT count(*) FROM pg_stat_replication), current_setting('autovacuum'),"
      " (SELECT string_agg(p || ' on ' || t, ', ') FROM unnest(ARRAY['tyer_lock', 'tyer_wait', 'tyer_session', "
      "'tyer_bell']) t,"
      " unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p WHERE NOT has_table_privilege(t, p)),"
      " current_setting('default_transaction_isolation'),"
      " EXISTS (SELECT 1 FROM pg_class WHERE oid = 'tyer_lock'::regclass AND 'autovacuum_enabled=false' = "
      "ANY(reloptions)),"
      " (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::bigint FROM pg_stat_activity"
      " WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()),"
      " (SELECT max(greatest(age(datfrozenxid), mxid_age(datminmxid))) FROM pg_database)";

  // As sql/dialect.hpp has them.
  static constexpr std::array join_texts{join}, extend_texts{extend}, extend_places_texts{extend_places};
  static constexpr std::array bell_texts{look_for_bells}, question_texts{questions};
  static constexpr std::array sweep_texts{sweep_names, sweep_marked, stale_names};
  static constexpr std::array sweep_rest_texts{sweep_sessions, sweep_bells};
  static constexpr std::nullptr_t clear = nullptr;
  static constexpr bool reads_along = true;
};

}  // namespace tyer::postgres
