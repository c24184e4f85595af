#include "engines/postgres/dialect.hpp"

#include "engines/postgres/schema.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/sql/rows.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::postgres {

namespace {

using namespace tyer::sql;

constexpr std::int64_t open_for_long_s = 600;
constexpr std::int64_t numbers_there_are = std::int64_t{1} << 31, few_numbers_left = 500'000'000;

exchange bounds(milliseconds request_timeout) {
  const auto lock_wait = std::max<std::int64_t>(50, request_timeout.count() / 4);
  return {{statement::bounds, {std::to_string(lock_wait), std::to_string(request_timeout.count())}}};
}

// There are none; or somebody else is making them just now.
bool no_tables(const answered& a) { return a.code == "42P01" || a.code == "42P07" || a.code == "23505"; }

std::optional<std::int64_t> number(const answered& a) {
  if (a.rows.empty()) return std::nullopt;
  const row& first = a.rows[0];
  return first.size() == 1 ? first[0].number : done(first);
}

std::string learn(const row& facts, server& s) {
  s.id = facts[2].bytes + '/' + std::to_string(facts[4].number);
  return facts[3].number != 0 ? "this server is a standby: it cannot lock" : "";
}

meaning what(const answered& a) {
  // Serialisation, deadlock, lock not available, cancelled by a time-out, statement not prepared.
  for (const char* code : {"40001", "40P01", "55P03", "57014", "26000"}) {
    if (a.code == code) return meaning::again;
  }
  if (a.code == "25006") return meaning::other_server;
  const auto family = std::string_view{a.code}.substr(0, 2);
  if (family == "08" || family == "57" || family == "53" || family == "58" || family == "XX") return meaning::lost;
  return meaning::refused;
}

std::vector<engine::finding> findings(const answers& a) {
  std::vector<engine::finding> all;
  if (a.back().rows.empty())
    return {{"the server did not tell of its settings: " + a.back().words, "ask it by hand", 1}};
  const row& r = a.back().rows[0];
  if (r[1].bytes == "off") {
    all.push_back({"fsync is off: a crash of the machine can lose locks that were granted", "set fsync = on", 2});
  }
  if (r[0].bytes == "off") {
    all.push_back({"synchronous_commit is off: a crash of the server loses what was granted in its last moments",
                   "ALTER ROLE … SET synchronous_commit = on, for the role that locks", 2});
  }
  if (r[3].number > 0 && r[2].bytes.empty()) {
    all.push_back(
        {"there are standbys, and none of them is synchronous: whoever is promoted may not know the last grants",
         "name them in synchronous_standby_names, or check tokens at what you protect", 1});
  }
  if (r[4].bytes == "off" || r[7].number != 0) {
    all.push_back({"autovacuum is off: the tables grow with every lock that is taken",
                   "set autovacuum = on, and autovacuum_enabled for tyer_lock", 1});
  }
  if (r[8].number >= open_for_long_s) {
    all.push_back({"a transaction has been open for " + std::to_string(r[8].number / 60) +
                       " minutes: meanwhile nothing can be vacuumed, and every lock gets slower",
                   "end it; idle_in_transaction_session_timeout ends those that nobody goes on with", 1});
  }
  if (const auto left = numbers_there_are - r[9].number; left < few_numbers_left) {
    all.push_back(
        {"a database of this server has " + std::to_string(left / 1'000'000) +
             " million numbers left to tell transactions apart: without any, nobody can lock",
         "VACUUM it (of pg_database the one with the highest age(datfrozenxid) or mxid_age(datminmxid)), and end what "
         "has been open or prepared for long",
         2});
  }
  if (!r[5].bytes.empty()) {
    all.push_back({"rights are missing: " + r[5].bytes, "GRANT them to the role that locks", 2});
  }
  // Set for each session; behind a pooler nothing can be.
  if (r[6].bytes != "read committed") {
    all.push_back({"the isolation level is " + r[6].bytes + ": those who meet at a name have to begin again and again",
                   "ALTER ROLE … SET default_transaction_isolation = 'read committed', for the role that locks", 1});
  }
  return all;
}

}  // namespace

constinit const tongue own_tongue{.say = catalogue_of<statement>(schema_ddl),
                                  .listen = "LISTEN tyer_",
                                  .bounds = bounds,
                                  .what = what,
                                  .no_tables = no_tables,
                                  .number = number,
                                  .learn = learn,
                                  .findings = findings,
                                  .pooled =
                                      "a pooler is between this client and PostgreSQL: NOTIFY does not come through "
                                      "it, so whoever waits asks for its "
                                      "turn, 4 to 100 times a second",
                                  .pooled_advice =
                                      "connect directly if that is too much; what is set for a session does not pass a "
                                      "pooler either: ALTER ROLE … SET "
                                      "lock_timeout = '500ms', statement_timeout = '2s', for the role that locks"};

}  // namespace tyer::postgres
