#include "engines/mysql/dialect.hpp"

#include "engines/mysql/schema.hpp"
#include "engines/mysql/statements.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::mysql {

namespace {

using namespace tyer::sql;

// By their names, as SHOW VARIABLES tells them.
class variables {
 public:
  explicit variables(const answers& all) {
    for (const answered& a : all) {
      for (const row& r : a.rows) {
        if (r.size() == 2) known_.emplace(r[0].bytes, r[1].bytes);
      }
    }
  }
  bool has(const char* name, std::string_view value) const {
    const auto at = known_.find(name);
    return at != known_.end() && at->second == value;
  }
  bool otherwise(const char* name, std::string_view value) const { return known_.contains(name) && !has(name, value); }

 private:
  std::map<std::string, std::string> known_;
};

void add_replication(std::vector<engine::finding>& to, const variables& is) {
  if (is.has("binlog_format", "STATEMENT")) {
    to.push_back({"binlog_format is STATEMENT: the server refuses to write under READ COMMITTED, and so all locks",
                  "set binlog_format = ROW", 3});
  }
  if (is.otherwise("sync_binlog", "1")) {
    to.push_back(
        {"sync_binlog is not 1: after a crash of the machine a replica may know more, or less, than this server",
         "set sync_binlog = 1", 1});
  }
  const bool waits = is.has("rpl_semi_sync_master_enabled", "ON") || is.has("rpl_semi_sync_source_enabled", "ON");
  if (waits && (is.has("Rpl_semi_sync_master_status", "OFF") || is.has("Rpl_semi_sync_source_status", "OFF"))) {
    to.push_back(
        {"semi-synchronous replication has fallen back: no replica has answered in time, and the server goes on "
         "without; one that is "
         "promoted now does not know the last grants",
         "see to the replicas, and set rpl_semi_sync_source_timeout (rpl_semi_sync_master_timeout) so long that it "
         "does not fall back",
         2});
  }
  if (!waits) {
    to.push_back(
        {"there is a binary log, and nobody waits for a replica: one that is promoted does not know the last grants",
         "if there are replicas, replicate semi-synchronously, or check tokens at what you protect", 0});
  }
}

exchange bounds(milliseconds) { return {{statement::mode}, {statement::isolation}}; }

bool no_tables(const answered& a) { return a.code == "1146"; }

std::optional<std::int64_t> number(const answered& a) {
  if (a.affected == 0) return std::nullopt;
  return static_cast<std::int64_t>(a.insert_id);
}

// Nothing tells cheaply whether the server was started anew since: each connection counts as another server, and each hold shows
// once that it stands.
std::string learn(const row& facts, server& s) {
  s.id = facts[3].bytes + '/' + std::to_string(facts[4].number) + '/' + std::to_string(s.clock.count());
  s.rings = false;
  return facts[2].number != 0 ? "this server is read-only: it cannot lock" : "";
}

meaning what(const answered& a) {
  // Lock wait time-out, deadlock, changed since it was read, refused by the certification of Group Replication, to be prepared
  // again, interrupted.
  for (const char* code : {"1205", "1213", "1020", "3101", "1615", "1317", "1969", "3024"}) {
    if (a.code == code) return meaning::again;
  }
  // Read-only; not prepared here; left by the server, since it was idle.
  for (const char* code : {"1290", "1836", "1792", "1243", "4031"}) {
    if (a.code == code) return meaning::other_server;
  }
  // Shutting down, killed, gone, out of memory or disk, and whatever the cluster says while it finds itself.
  for (const char* code : {"1053", "1927", "2006", "2013", "1037", "1038", "1041", "1021", "1047", "1180", "3100"}) {
    if (a.code == code) return meaning::lost;
  }
  return meaning::refused;
}

std::vector<engine::finding> findings(const answers& a) {
  const variables is{a};
  std::vector<engine::finding> all;
  if (is.otherwise("innodb_flush_log_at_trx_commit", "1")) {
    all.push_back(
        {"innodb_flush_log_at_trx_commit is not 1: a crash of the server or its machine loses what was granted "
         "in its last second",
         "set innodb_flush_log_at_trx_commit = 1", 2});
  }
  if (is.otherwise("wsrep_on", "OFF")) {
    all.push_back({"this is a node of Galera: leases are counted on the clock of the node that is asked",
                   "let all clients talk to one node, and keep the clocks of the nodes together", 1});
  }
  if (is.otherwise("group_replication_group_name", "")) {
    all.push_back({"this server is in a group: a primary that takes over may answer before it has caught up",
                   "have a single primary, and set group_replication_consistency = BEFORE_ON_PRIMARY_FAILOVER", 1});
  }
  if (is.otherwise("log_bin", "OFF")) add_replication(all, is);
  const auto& grants = a.back().rows;
  if (!grants.empty() && grants[0].size() == 1 && !grants[0][0].bytes.empty()) {
    all.push_back({"rights are missing: " + grants[0][0].bytes, "GRANT them to the user who locks", 2});
  }
  return all;
}

}  // namespace

std::vector<const char*> said_behind_an_answer() { return {statement::ring}; }

constinit const tongue own_tongue{
    catalogue_of<statement>(schema_ddl), nullptr, bounds, what, no_tables, number, learn, findings};

}  // namespace tyer::mysql
