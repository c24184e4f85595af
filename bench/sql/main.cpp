// bench_sql [--rounds N] [--quick] [--part NAME]..., with the URIs of two servers in TYER_POSTGRES_URI and TYER_URI (MariaDB), or of one of them: the
// bare databases and Tyer, interleaved, medians. See tools/bench --help.
#include "common/handover.hpp"
#include "sql/suite.hpp"

#include <tyer/client.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

struct plan {
  int rounds = 5;
  bool quick = false;
  std::set<std::string> parts = {};  // none: all of them
  bool has(const char* part) const { return parts.empty() || parts.contains(part); }
  milliseconds each() const { return quick ? 300ms : 2000ms; }
  int many() const { return quick ? 100 : 1000; }
};

using figure = std::optional<double>;  // none: its part was left out

struct figures {
  figure ratio, statements, reqs_per_handover, idle_qps, renewal, connections;
};

std::string shown(const figure& f, int digits) {
  if (!f) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, *f);
  return text;
}

template <class... T>
void say(const char* format, T... values) {
  std::printf(format, values...);
  std::fflush(stdout);
}

// The tables are made by whoever connects first.
void make_tables(const std::string& uri) {
  tyer::client first{uri + "?schema=apply"};
  if (!first.wait_ready()) throw std::runtime_error("the database does not answer");
}

double ratio(const std::string& uri, database& d, const plan& p) {
  std::vector<double> all;
  for (int i = 0; i < p.rounds; ++i) {
    const double bare = d.bare(64, p.each());
    const double tyer = tyer_pipelined(uri, 64, p.each());
    all.push_back(tyer / bare);
    say("  64 in flight: bare %.0f/s, tyer %.0f/s\n", bare, tyer);
  }
  return median(all);
}

double worst_handover(const std::string& uri, database& d, const plan& p) {
  double worst = 0;
  for (const int waiters : {2, 64, p.many()}) {
    const auto h = measure_handover(uri, waiters, p.each(), [&] { return d.statements(); });
    say("  hand-over, %d waiters: %.2f statements each, %.0f us\n", waiters, h.requests, h.usec);
    worst = std::max(worst, h.requests);
  }
  return worst;
}

// All of one client: they come on one connection.
void show_handover_of_one(const std::string& uri, database& d, const plan& p) {
  const auto h = measure_handover(uri, p.many(), p.each(), [&] { return d.statements(); }, 1);
  say("  hand-over, %d waiters of one client: %.2f statements each, %.0f us\n", p.many(), h.requests, h.usec);
}

// None of a database that there is not.
figures measure(const char* name, const char* uri_in, std::unique_ptr<database> (*at)(const std::string&),
                const plan& p) {
  const char* const said = std::getenv(uri_in);
  if (said == nullptr) return {};
  const std::string uri = said;
  say("%s\n", name);
  make_tables(uri);
  const auto d = at(uri);
  figures f;
  const auto take = [&](const char* part, figure& to, auto what) {
    if (!p.has(part)) return;
    to = what();
    say("  %s %.2f\n", part, *to);
  };
  take("ratio", f.ratio, [&] { return ratio(uri, *d, p); });
  take("statements", f.statements, [&] { return measure_statements(uri, *d, p.each()); });
  take("handover", f.reqs_per_handover, [&] { return worst_handover(uri, *d, p); });
  if (p.has("one_client")) show_handover_of_one(uri, *d, p);
  take("connections", f.connections, [&] { return measure_connections(uri, *d, p.many()); });
  take("idle", f.idle_qps, [&] { return measure_idle_waiters(uri, *d, p.quick ? 10 : 100, p.quick ? 3s : 20s); });
  take("renewal", f.renewal, [&] { return measure_renewal(uri, *d, p.quick ? 1000 : 100'000, p.quick ? 6s : 30s); });
  return f;
}

std::string both(const figure& pg, const figure& my) { return shown(pg, 1) + "/" + shown(my, 1); }

void conclude(const figures& pg, const figures& my) {
  const auto connections = std::max(pg.connections, my.connections);
  const std::string line = "sql: pg_ratio=" + shown(pg.ratio, 2) + " my_ratio=" + shown(my.ratio, 2) +
                           " pg_statements=" + shown(pg.statements, 2) + " my_statements=" + shown(my.statements, 2) +
                           " pg_reqs_per_handover=" + shown(pg.reqs_per_handover, 2) +
                           " my_reqs_per_handover=" + shown(my.reqs_per_handover, 2) +
                           " idle_waiters_qps=" + both(pg.idle_qps, my.idle_qps) +
                           " renewal_statements=" + both(pg.renewal, my.renewal) +
                           " connections=" + shown(connections, 0);
  say("%s\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  plan p;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--wait") == 0 && i + 1 < argc) return wait_until_killed(argv[i + 1]);
    if (std::strcmp(argv[i], "--quick") == 0) p.quick = true;
    if (std::strcmp(argv[i], "--part") == 0 && i + 1 < argc) p.parts.insert(argv[++i]);
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) p.rounds = std::max(1, std::atoi(argv[++i]));
  }
  const auto pg = measure("PostgreSQL", "TYER_POSTGRES_URI", &postgres_at, p);
  const auto my = measure("MariaDB", "TYER_URI", &mysql_at, p);
  conclude(pg, my);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_sql: %s\n", e.what());
  return 1;
}
