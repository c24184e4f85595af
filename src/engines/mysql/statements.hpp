// The statements, as constants. Each is a transaction of its own, under READ COMMITTED.
//
// Time is UTC_TIMESTAMP(6): when the statement began. One that waited for a row judges what it finds there by an earlier clock: a
// lease seems to be over later than it is, and a lease that it gives is shorter, never the other way round.
//
// There is no RETURNING: what an UPDATE tells is how many rows it changed (so each raises `version`, or a row that was left as it
// was would not count) and one number, by LAST_INSERT_ID(). Assignments are carried out from left to right. A list comes as JSON,
// of hexadecimal digits.
#pragma once

#include <array>
#include <cstddef>

namespace tyer::mysql {

struct statement {
#define TYER_NOW "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
#define TYER_INT(n) "CAST($" #n " AS SIGNED)"
#define TYER_ONE_OF(column, n) \
  "FIND_IN_SET(CAST(" column " AS CHAR), CONVERT($" #n " USING utf8mb4) COLLATE utf8mb4_bin) > 0"
#define TYER_LIST(n) \
  "JSON_TABLE(CONVERT($" #n " USING utf8mb4), '$[*]' COLUMNS (e VARCHAR(8192) CHARACTER SET utf8mb4 PATH '$')) k"
#define TYER_NUMBERS(n) \
  "JSON_TABLE(CONCAT('[', CONVERT($" #n " USING utf8mb4), ']'), '$[*]' COLUMNS (e BIGINT PATH '$')) n"
// A name that is locked by sessions (sessions.cpp), behind the mark the run of the server in which it was granted last; and its key: 64
// characters are what it may have, and their case counts for nothing.
#define TYER_MARK "x'ff'"
#define TYER_IS_MARKED(state) "(LEFT(" state ", 1) <=> " TYER_MARK ")"
#define TYER_KEY(name) "SHA2(" name ", 256)"
#define TYER_HOLDS "l.name = SUBSTR(UNHEX(k.e), 17) AND l.hold = SUBSTR(UNHEX(k.e), 1, 16)"

  // name, hold, ttl, above, owner, part_max. Tells the token; no row: it is not free, or there is no such name.
  static constexpr const char* take =
    "UPDATE tyer_lock SET token = LAST_INSERT_ID(IF(hold <=> $2 AND expires > " TYER_NOW
    ", token, GREATEST(token + 1, " TYER_INT(4) ", " TYER_NOW "))),"
    " session = IF(hold <=> $2 AND expires > " TYER_NOW ", session, NULL),"
    " expires = IF(hold <=> $2, GREATEST(expires, " TYER_NOW " + " TYER_INT(3) "), " TYER_NOW " + " TYER_INT(3) "),"
    " hold = $2, claimed = 1, owner = $5, version = version + 1"
    " WHERE name = $1 AND ((hold <=> $2 AND expires > " TYER_NOW ") OR (crowd = 0 AND token < " TYER_INT(6)
    " AND (hold IS NULL OR (session IS NULL AND expires <= " TYER_NOW "))))";

  // name, hold, own sessions
  static constexpr const char* give_back =
      "UPDATE tyer_lock SET hold = NULL, claimed = 0, session = NULL, owner = NULL, version = version + 1, expires "
      "= " TYER_NOW " WHERE name = $1 AND hold = $2 AND crowd = 0 AND ((session IS NULL AND expires > " TYER_NOW
      ") OR " TYER_ONE_OF("session", 3) ")";

  // name, own, places
  static constexpr const char* read =
      "SELECT 0, name, version, joins, token, expires, COALESCE(session, 0), claimed, hold, owner, state"
      " FROM tyer_lock WHERE name = $1"
      " UNION ALL (SELECT 1, NULL, seq, 0, 0, expires, 0, 0, id, NULL, body FROM tyer_wait"
      " WHERE name = $1 AND gone = 0 ORDER BY seq LIMIT $3)"
      " UNION ALL SELECT 2, NULL, w.seq, (SELECT COUNT(*) FROM tyer_wait b WHERE b.name = $1 AND b.gone = 0 AND b.seq "
      "< "
      "w.seq),"
      " 0, w.expires, 0, 0, w.id, NULL, w.body FROM tyer_wait w WHERE w.id = $2 AND w.name = $1 AND w.gone = 0"
      " UNION ALL SELECT 3, NULL, (SELECT COUNT(*) FROM tyer_wait WHERE name = $1 AND gone = 0), 0, " TYER_NOW
      ", 0, 0, 0, NULL, NULL, NULL";

  // name, id, ttl, body. The place first: whoever counts the joins later sees it.
  static constexpr const char* join_queue =
    "INSERT INTO tyer_wait (id, name, expires, body) VALUES ($2, $1, " TYER_NOW " + " TYER_INT(3) ", $4)"
    " ON DUPLICATE KEY UPDATE expires = IF(gone = 0, GREATEST(expires, VALUES(expires)), VALUES(expires)), gone = 0";
  static constexpr const char* join_name =
      "INSERT INTO tyer_lock (name, crowd, joins, expires) VALUES ($1, 1, 1, " TYER_NOW
      ") ON DUPLICATE KEY UPDATE joins = joins + 1, crowd = 1";

  // name
  static constexpr const char* create = "INSERT IGNORE INTO tyer_lock (name, expires) VALUES ($1, " TYER_NOW ")";

  // name, guard, hold, claimed, token, expires, session, owner, state, joins, crowd, gone, sessions, extended, until, body. Tells the
  // joins. A statement deletes from one table or changes several: so it marks the places, and another one deletes them. The sessions
  // have another generation, and a place more time, if the name has changed, and only then.
  static constexpr const char* write =
    "UPDATE tyer_lock l LEFT JOIN (" TYER_LIST(12) " STRAIGHT_JOIN tyer_wait w FORCE INDEX (tyer_wait_id)"
    " ON w.id = UNHEX(k.e)) ON 1 = 1 LEFT JOIN (" TYER_NUMBERS(13) " STRAIGHT_JOIN tyer_session s FORCE INDEX (PRIMARY)"
    " ON s.id = n.e) ON 1 = 1 LEFT JOIN tyer_wait p FORCE INDEX (tyer_wait_id) ON p.id = $14 AND p.gone = 0"
    " SET l.hold = $3, l.claimed = " TYER_INT(4) ", l.token = " TYER_INT(5) ", l.expires = " TYER_INT(6)
    ", l.session = $7, l.owner = $8, l.state = $9, l.version = l.version + 1,"
    " l.crowd = (l.joins <> " TYER_INT(10) " OR " TYER_INT(11) " <> 0), l.joins = LAST_INSERT_ID(l.joins), w.gone = 1,"
    " s.generation = s.generation + 1, p.expires = GREATEST(p.expires, " TYER_INT(15) "), p.body = $16"
    " WHERE l.name = $1 AND l.version = " TYER_INT(2);
  // gone
  static constexpr const char* clear = "DELETE w FROM " TYER_LIST(1)
                                     " STRAIGHT_JOIN tyer_wait w FORCE INDEX (tyer_wait_id) ON w.id = UNHEX(k.e)"
                                     " WHERE w.gone = 1";

  // session, ttl
  static constexpr const char* begin_session =
      "INSERT INTO tyer_session (id, expires) VALUES ($1, " TYER_NOW " + " TYER_INT(2) ")";
  // Either this or end_sessions comes first: both write the row, and whichever waits looks at it again. It tells the generation. The
  // row changes by it, if the clock does not.
  static constexpr const char* renew_session =
      "UPDATE tyer_session SET expires = GREATEST(expires + 1, " TYER_NOW
      " + " TYER_INT(2) "), generation = LAST_INSERT_ID(generation) WHERE id = $1 AND ended = 0";
  static constexpr const char* drop_session = "DELETE FROM tyer_session WHERE id = $1";
  // sessions
  static constexpr const char* end_sessions =
    "UPDATE " TYER_NUMBERS(1) " STRAIGHT_JOIN tyer_session s FORCE INDEX (PRIMARY) ON s.id = n.e"
    " SET s.ended = 1 WHERE s.ended = 0 AND s.expires <= " TYER_NOW;
  static constexpr const char* how_sessions_are = "SELECT s.id, s.expires, s.ended FROM " TYER_NUMBERS(
      1) " STRAIGHT_JOIN tyer_session s FORCE INDEX (PRIMARY) ON s.id = n.e";

  // By one clock: what is found to be extended is by what was extended.
  static constexpr const char* look_at_clock = "SET @tyer_now = " TYER_NOW;
  // session, ttl, holds (each with its name behind it), own sessions
  static constexpr const char* extend_holds =
    "UPDATE " TYER_LIST(3) " STRAIGHT_JOIN tyer_lock l FORCE INDEX (PRIMARY) ON " TYER_HOLDS
    " SET l.session = COALESCE($1, l.session), l.expires = GREATEST(l.expires, @tyer_now + " TYER_INT(2) "),"
    " l.version = l.version + 1 WHERE l.claimed = 1 AND l.expires > @tyer_now"
    " AND (l.session IS NULL OR " TYER_ONE_OF("l.session", 4) ")";
  static constexpr const char* extended_holds =
    "SELECT l.hold FROM " TYER_LIST(3) " STRAIGHT_JOIN tyer_lock l FORCE INDEX (PRIMARY) ON " TYER_HOLDS
    " WHERE l.claimed = 1 AND l.expires >= @tyer_now + " TYER_INT(2) " AND l.session <=> COALESCE($1, l.session)"
    " AND (l.session IS NULL OR " TYER_ONE_OF("l.session", 4) ")";

  // name, head, its time, session as it lies, ttl, layout. Tells until when. A number lies there little-endian.
  static constexpr const char* extend_seat =
    "UPDATE tyer_lock SET state = INSERT(state, LOCATE($2, state) + 26, 16, CONCAT(REVERSE(UNHEX(LPAD(HEX(LAST_INSERT_ID("
    "GREATEST(" TYER_INT(3) ", " TYER_NOW " + " TYER_INT(5) "))), 16, '0'))), $4)), version = version + 1"
    " WHERE name = $1 AND LOCATE($2, state) > 0 AND ORD(state) = " TYER_INT(6) " AND " TYER_INT(3) " > " TYER_NOW;

// A hint, of the snapshot: nothing is taken from anybody because of it.
#define TYER_LIVES_BY_SESSION(now) \
  "EXISTS (SELECT 1 FROM tyer_session s WHERE s.id = l.session AND s.ended = 0 AND s.expires > " now ")"

  // ttl, ids. Of the queue only its head is looked at: each of a thousand would else look at a thousand.
  static constexpr const char* extend_queue =
    "UPDATE " TYER_LIST(2) " STRAIGHT_JOIN tyer_wait w FORCE INDEX (tyer_wait_id) ON w.id = UNHEX(k.e)"
    " SET w.expires = GREATEST(w.expires, @tyer_now + " TYER_INT(1) ") WHERE w.gone = 0 AND w.expires > @tyer_now";
  static constexpr const char* extended_queue =
    "SELECT w.id, w.name,"
    " EXISTS (SELECT 1 FROM tyer_lock l WHERE l.name = w.name AND ((l.hold IS NULL AND l.state IS NULL)"
    " OR (l.expires <= @tyer_now AND NOT " TYER_LIVES_BY_SESSION("@tyer_now") "))) OR COALESCE((SELECT h.expires FROM tyer_wait h WHERE h.name = w.name AND h.gone = 0 ORDER BY h.seq LIMIT 1) <= @tyer_now, 0)"
    " FROM " TYER_LIST(2) " STRAIGHT_JOIN tyer_wait w FORCE INDEX (tyer_wait_id) ON w.id = UNHEX(k.e)"
    " WHERE w.gone = 0 AND w.expires >= @tyer_now + " TYER_INT(1);

  // from, to, names
  static constexpr const char* list =
      "WITH n AS (SELECT * FROM tyer_lock WHERE name >= $1 AND ($2 = '' OR name < $2)"
      " AND (hold IS NOT NULL OR crowd = 1) AND NOT " TYER_IS_MARKED("state") " ORDER BY name LIMIT $3)"
      " SELECT 0, name, version, joins, token, expires, COALESCE(session, 0), claimed, hold, owner, state FROM n"
      " UNION ALL SELECT 1, w.name, w.seq, 0, 0, w.expires, 0, 0, w.id, NULL, w.body FROM n JOIN tyer_wait w ON w.name "
      "= "
      "n.name"
      " AND w.gone = 0"
      " UNION ALL SELECT 3, NULL, 0, 0, " TYER_NOW ", 0, 0, 0, NULL, NULL, NULL";

  // bells
  static constexpr const char* ring =
      "INSERT INTO tyer_bell (client, rung, bell)"
      " SELECT SUBSTR(UNHEX(k.e), 1, 8), " TYER_NOW ", UNHEX(k.e) FROM " TYER_LIST(1);
  // client
  static constexpr const char* look_for_bells =
      "SELECT bell, seq FROM tyer_bell WHERE client = $1 ORDER BY seq LIMIT 1000";
  // client, those that were seen and no others: one whose number was drawn earlier may be rung only now.
  static constexpr const char* forget_bells = "DELETE b FROM " TYER_NUMBERS(
      2) " STRAIGHT_JOIN tyer_bell b FORCE INDEX (PRIMARY) ON b.seq = n.e WHERE b.client = $1";

// There is no index by time, which would make every update of a row dearer: so one client looks at all, a thousand at a time.
#define TYER_NEXT_NAMES \
  "(SELECT name, expires, session, hold IS NULL AND crowd = 0 AS free, " TYER_IS_MARKED("state") " AS marked FROM" \
  " tyer_lock WHERE name > $2 ORDER BY name LIMIT 1000) l"
#define TYER_SWEEP(which)                                                                                       \
  "DELETE l FROM (SELECT name FROM " TYER_NEXT_NAMES " WHERE " which " AND expires < " TYER_NOW " - " TYER_INT( \
      1) ") k STRAIGHT_JOIN tyer_lock l FORCE INDEX (PRIMARY) ON l.name = k.name WHERE l.expires < " TYER_NOW   \
         " - " TYER_INT(1)
  // behind
  static constexpr const char* sweep_end =
      "SELECT name FROM tyer_lock WHERE name > $1 ORDER BY name LIMIT 1 OFFSET 999";
  // for how long, behind
  static constexpr const char* sweep_names = TYER_SWEEP("free") " AND l.hold IS NULL AND l.crowd = 0";
  static constexpr const char* sweep_marked =
      TYER_SWEEP("marked AND IS_FREE_LOCK(" TYER_KEY("name") ") = 1") " AND " TYER_IS_MARKED("l.state");
  // for how long
  static constexpr const char* sweep_sessions =
      "DELETE FROM tyer_session WHERE expires < " TYER_NOW " - " TYER_INT(1) " LIMIT 10000";
  static constexpr const char* sweep_places =
      "DELETE FROM tyer_wait WHERE expires < " TYER_NOW " - " TYER_INT(1) " LIMIT 10000";
  static constexpr const char* sweep_bells = "DELETE FROM tyer_bell WHERE rung < " TYER_NOW " - 600000000 LIMIT 10000";
  // for how long nobody else looks. The row of no session says until when.
  static constexpr const char* sweep_turn =
      "INSERT INTO tyer_session (id, expires) VALUES (0, " TYER_NOW
      " + " TYER_INT(1) ") ON DUPLICATE KEY UPDATE expires = IF(expires <= " TYER_NOW ", VALUES(expires), expires)";

  // for how long, behind. Names that somebody has held, shared or waited for, and nobody has touched since.
  static constexpr const char* stale_names =
      "SELECT name FROM " TYER_NEXT_NAMES " WHERE NOT free AND NOT marked AND expires < " TYER_NOW
      " - " TYER_INT(1) " AND NOT " TYER_LIVES_BY_SESSION(TYER_NOW) " LIMIT 100";

  static constexpr const char* schema = "SELECT version FROM tyer_schema";
  static constexpr const char* facts =
      "SELECT VERSION(), " TYER_NOW ", @@global.read_only, CONCAT(@@hostname, ':', @@port), CONNECTION_ID()";
  static constexpr const char* mode =
      "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, innodb_lock_wait_timeout = "
      "1,"
      " lock_wait_timeout = 1, sql_safe_updates = 0, sql_select_limit = 18446744073709551615, sql_big_selects = 1";
  static constexpr const char* isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
  // Those that a server does not know are not told.
  static constexpr const char* questions =
      "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog',"
      " 'binlog_format', 'wsrep_on', 'group_replication_group_name', 'rpl_semi_sync_master_enabled',"
      " 'rpl_semi_sync_source_enabled')";
  static constexpr const char* replication =
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status')";
  // Of whoever has no role: what comes by one is not told here.
  static constexpr const char* grants =
      "SELECT GROUP_CONCAT(p.p, ' on ', t.t SEPARATOR ', ') FROM"
      " (SELECT CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', "
      "-1))) who) me,"
      " (SELECT 'SELECT' p UNION ALL SELECT 'INSERT' UNION ALL SELECT 'UPDATE' UNION ALL SELECT 'DELETE') p,"
      " (SELECT 'tyer_lock' t UNION ALL SELECT 'tyer_wait' UNION ALL SELECT 'tyer_session' UNION ALL SELECT "
      "'tyer_bell') t"
      " WHERE COALESCE(CURRENT_ROLE(), 'NONE') = 'NONE'"
      " AND NOT EXISTS (SELECT 1 FROM information_schema.TABLE_PRIVILEGES g WHERE g.GRANTEE = me.who"
      " AND g.TABLE_SCHEMA = DATABASE() AND g.TABLE_NAME = t.t AND g.PRIVILEGE_TYPE = p.p)"
      " AND NOT EXISTS (SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES g WHERE g.GRANTEE = me.who"
      " AND DATABASE() LIKE g.TABLE_SCHEMA AND g.PRIVILEGE_TYPE = p.p)"
      " AND NOT EXISTS (SELECT 1 FROM information_schema.USER_PRIVILEGES g WHERE g.GRANTEE = me.who AND "
      "g.PRIVILEGE_TYPE = p.p)";

  // As sql/dialect.hpp has them.
  static constexpr std::array join_texts{join_queue, join_name};
  static constexpr std::array extend_texts{look_at_clock, extend_holds, extended_holds};
  static constexpr std::array extend_places_texts{look_at_clock, extend_queue, extended_queue};
  static constexpr std::array bell_texts{look_for_bells};
  static constexpr std::array question_texts{questions, replication, grants};
  static constexpr std::array sweep_texts{sweep_names, sweep_marked, stale_names};
  static constexpr std::array sweep_rest_texts{sweep_sessions, sweep_places, sweep_bells};
  static constexpr std::nullptr_t collect_bells = nullptr;
  static constexpr bool reads_along = false;
};

}  // namespace tyer::mysql
