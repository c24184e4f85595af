#include "engines/postgres/dialect.hpp"

#include "core/id.hpp"
#include "engines/postgres/schema.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/sql/rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::postgres {

namespace {

constexpr std::array join{statement::join}, extend{statement::extend}, extend_places{statement::extend_places};
constexpr std::array sweep{statement::sweep_names, statement::sweep_sessions, statement::stale_names};

const catalogue texts{
    .take = statement::take,
    .give_back = statement::give_back,
    .read = statement::read,
    .create = statement::create,
    .join = join,
    .extend_place = nullptr,
    .write = statement::write,
    .clear = nullptr,
    .begin_session = statement::begin_session,
    .renew_session = statement::renew_session,
    .drop_session = statement::drop_session,
    .end_sessions = statement::end_sessions,
    .how_sessions_are = statement::how_sessions_are,
    .extend = extend,
    .extend_places = extend_places,
    .list = statement::list,
    .ring = statement::ring,
    .look_for_bells = {},
    .forget_bells = nullptr,
    .sweep = sweep,
    .sweep_turn = statement::sweep_turn,
    .questions = statement::questions,
    .facts = statement::facts,
    .schema = statement::schema,
    .ddl = schema_ddl,
    .join_reads = true,
};

}  // namespace

dialect::dialect(const setting& s) : sql::dialect(s, texts), listen_("LISTEN tyer_" + core::to_hex(client())) {}

exchange dialect::bounds() const {
  const auto lock_wait = std::max<std::int64_t>(50, set().request_timeout.count() / 4);
  return {{statement::bounds, {std::to_string(lock_wait), std::to_string(set().request_timeout.count())}},
          {listen_.c_str()}};
}

std::optional<std::int64_t> dialect::number(const answered& a) const {
  if (a.rows.empty()) return std::nullopt;
  const row& first = a.rows[0];
  return first.size() == 1 ? first[0].number : done(first);
}

std::string dialect::learn(const row& facts, server& s) const {
  s.id = facts[2].bytes + '/' + std::to_string(facts[4].number);
  return facts[3].number != 0 ? "this server is a standby: it cannot lock" : "";
}

meaning dialect::what(const answered& a) const {
  // Serialisation, deadlock, lock not available, cancelled by a time-out, statement not prepared.
  for (const char* code : {"40001", "40P01", "55P03", "57014", "26000"}) {
    if (a.code == code) return meaning::again;
  }
  if (a.code == "25006") return meaning::other_server;
  const auto family = std::string_view{a.code}.substr(0, 2);
  if (family == "08" || family == "57" || family == "53" || family == "58" || family == "XX") return meaning::lost;
  return meaning::refused;
}

std::vector<engine::finding> dialect::findings(const answers& a, const server&) const {
  std::vector<engine::finding> all;
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
  if (r[4].bytes == "off") {
    all.push_back({"autovacuum is off: the tables grow with every lock that is taken", "set autovacuum = on", 1});
  }
  if (!r[5].bytes.empty()) {
    all.push_back({"rights are missing: " + r[5].bytes, "GRANT them to the role that locks", 2});
  }
  return all;
}

}  // namespace tyer::postgres
