// What the doctor should know about this etcd.
#include "engines/etcd/diagnosis.hpp"

#include "engines/etcd/frame.hpp"
#include "engines/kit/version.hpp"

#include <array>
#include <string>
#include <utility>

namespace tyer::etcd {

namespace {

using kit::version;
using tyer::engine::finding;

struct bug {
  std::array<version, 3> fixed;  // in 3.4, 3.5 and 3.6
  const char* what;
  int severity;
};

constexpr bug bugs[] = {
    {{{{3, 4, 32}, {3, 5, 14}, {3, 6, 0}}}, "revisions may run backwards after a crash, and with them tokens", 3},
    {{{{3, 4, 31}, {3, 5, 13}, {3, 6, 0}}}, "an old leader may revoke leases that are alive", 3},
    {{{{3, 4, 38}, {3, 5, 23}, {3, 6, 5}}}, "a lease that was revoked may be renewed with success", 2},
    {{{{3, 4, 42}, {3, 5, 28}, {3, 6, 9}}}, "after a pause of the process a linearizable read may be stale", 2},
};

bool has(const bug& b, const version& v) {
  if (v.major != 3 || v.minor > 6) return false;
  if (v.minor < 4) return true;
  return v < b.fixed[static_cast<std::size_t>(v.minor - 4)];
}

}  // namespace

std::vector<finding> examine(const pb::StatusResponse& s) {
  std::vector<finding> all;
  const auto v = kit::read_version(s.version());
  for (const bug& b : bugs) {
    if (!has(b, v)) continue;
    const auto& to = b.fixed[static_cast<std::size_t>(v.minor >= 4 ? v.minor - 4 : 0)];
    all.push_back({"etcd " + s.version() + ": " + b.what,
                   "upgrade to " + std::to_string(to.major) + '.' + std::to_string(to.minor) + '.' +
                       std::to_string(to.patch) + " or later",
                   b.severity});
  }
  if (s.leader() == 0)
    all.push_back({"the server knows of no leader", "see whether a majority of the servers runs", 3});
  for (const auto& e : s.errors()) {
    all.push_back({"the server reports: " + e,
                   e.find("NOSPACE") != e.npos
                       ? "compact, defragment, then etcdctl alarm disarm: until then etcd refuses "
                         "every write, also of locks"
                       : "look into the server's log",
                   3});
  }
  constexpr std::int64_t quota_default = std::int64_t{2} << 30;
  if (s.db_size() > quota_default / 4 * 3) {
    all.push_back({"the database has " + std::to_string(s.db_size() >> 20) + " MiB, and etcd's default quota is 2048",
                   "compact and defragment, or raise --quota-backend-bytes: above it etcd refuses every write", 2});
  }
  return all;
}

void frame::do_diagnose(const call_ptr<std::vector<finding>>& c) {
  link_.call<pb::StatusRequest, pb::StatusResponse>(method::status, {}, c->deadline,
                                                    [this, c](const failure* f, pb::StatusResponse& s) {
                                                      if (f != nullptr) return calls().fail(*c, *f);
                                                      calls().answer<std::vector<finding>>(*c, examine(s));
                                                    });
}

}  // namespace tyer::etcd
