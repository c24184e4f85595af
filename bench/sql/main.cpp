// bench_sql [--rounds N] [--quick], with the URIs of two servers in TYER_POSTGRES_URI and TYER_URI (MariaDB): the bare databases and
// Tyer, interleaved, medians. See tools/bench --help.
#include "common/handover.hpp"
#include "sql/suite.hpp"

#include <tyer/client.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

struct plan {
  int rounds = 5;
  bool quick = false;
  milliseconds each() const { return quick ? 300ms : 2000ms; }
};

struct figures {
  double ratio = 0, statements = 0, reqs_per_handover = 0, idle_qps = 0, renewal = 0;
  int connections = 0;
};

std::string uri_in(const char* variable) {
  const char* said = std::getenv(variable);
  if (said == nullptr) throw std::runtime_error(std::string{variable} + " is not set; start it with tools/bench sql");
  return said;
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
    std::printf("  64 in flight: bare %.0f/s, tyer %.0f/s\n", bare, tyer);
    std::fflush(stdout);
  }
  return median(all);
}

double worst_handover(const std::string& uri, database& d, const plan& p) {
  double worst = 0;
  for (const int waiters : {2, 64, 1000}) {
    const auto h = measure_handover(uri, waiters, p.each(), [&] { return d.statements(); });
    std::printf("  hand-over, %d waiters: %.2f statements each, %.0f us\n", waiters, h.requests, h.usec);
    std::fflush(stdout);
    worst = std::max(worst, h.requests);
  }
  return worst;
}

figures measure(const char* name, const std::string& uri, std::unique_ptr<database> (*at)(const std::string&),
                const plan& p) {
  std::printf("%s\n", name);
  make_tables(uri);
  const auto d = at(uri);
  figures f;
  f.ratio = ratio(uri, *d, p);
  f.statements = measure_statements(uri, *d, p.each());
  f.reqs_per_handover = worst_handover(uri, *d, p);
  f.connections = measure_connections(uri, *d, 1000);
  f.idle_qps = measure_idle_waiters(uri, *d, p.quick ? 10 : 100, p.quick ? 3s : 20s);
  f.renewal = measure_renewal(uri, *d, p.quick ? 1000 : 100'000);
  std::printf("  statements %.2f, idle waiters %.1f/s, a renewal of all %.1f, connections %d\n", f.statements,
              f.idle_qps, f.renewal, f.connections);
  std::fflush(stdout);
  return f;
}

}  // namespace

int main(int argc, char** argv) try {
  plan p;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--wait") == 0 && i + 1 < argc) return wait_until_killed(argv[i + 1]);
    if (std::strcmp(argv[i], "--quick") == 0) p.quick = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) p.rounds = std::max(1, std::atoi(argv[++i]));
  }
  const auto pg = measure("PostgreSQL", uri_in("TYER_POSTGRES_URI"), &postgres_at, p);
  const auto my = measure("MariaDB", uri_in("TYER_URI"), &mysql_at, p);
  std::printf(
      "sql: pg_ratio=%.2f my_ratio=%.2f pg_statements=%.2f my_statements=%.2f pg_reqs_per_handover=%.2f "
      "my_reqs_per_handover=%.2f idle_waiters_qps=%.1f/%.1f renewal_statements=%.1f/%.1f connections=%d\n",
      pg.ratio, my.ratio, pg.statements, my.statements, pg.reqs_per_handover, my.reqs_per_handover, pg.idle_qps,
      my.idle_qps, pg.renewal, my.renewal, std::max(pg.connections, my.connections));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_sql: %s\n", e.what());
  return 1;
}
