// bench_stats [--rounds N] [--quick], with the server's URI in TYER_URI: what counting costs. See tools/bench --help.
#include "common/cycles.hpp"
#include "redis/bare.hpp"
#include "stats/counting.hpp"

#include <sys/resource.h>

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

constexpr int callers = 64;

// Of this process, all threads.
double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Cycles a second, and processor time for a million of them.
struct measured {
  double rate = 0, cpu = 0;
};
measured measure(const tyer::client& c, bool counts, milliseconds run) {
  count(c, counts);
  const double before = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  const double rate = tyer_pipelined(c, callers, run);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {rate, (cpu_seconds() - before) / (rate * took) * 1e6};
}

// With, without, with, without ...; each turn with beside the one before it and the one after it, so that what changes slowly
// concerns both alike, and one beside one, so that the median of equals is 1 however they scatter.
struct pairs {
  std::vector<double> rate_ratio, cpu_ratio, with, without;
};

void one_round(const tyer::client& c, const std::string& uri, int n, milliseconds each, pairs& p) {
  const double bare = bare_pipelined(uri, dialect::our_scripts, callers, 4 * each);
  measure(c, true, each);
  auto before = measure(c, false, each);
  for (int i = 0; i < n; ++i) {
    const auto a = measure(c, true, each), b = measure(c, false, each);
    for (const auto& beside : {before, b}) {
      p.rate_ratio.push_back(a.rate / beside.rate);
      p.cpu_ratio.push_back(a.cpu / beside.cpu);
    }
    p.with.push_back(a.rate / bare);
    p.without.push_back(b.rate / bare);
    before = b;
  }
}

void check_that_it_counts(const tyer::client& c) {
  const auto granted = [&] { return c.stats().groups.at(0).acquire_duration[tyer::acquire_end::granted].count(); };
  const auto before = granted();
  measure(c, false, 25ms);
  const auto without = granted();
  measure(c, true, 25ms);
  if (without != before || granted() == before) throw std::runtime_error("counting was not switched on and off");
}

}  // namespace

int main(int argc, char** argv) try {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_stats: TYER_URI is not set; start it with tools/bench stats\n");
    return 2;
  }
  const std::string uri = from_env;
  int n = 20;
  auto each = 25ms;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) n = 2;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) n = std::max(1, std::atoi(argv[++i]));
  }
  tyer::client c{uri};
  if (!c.wait_ready()) throw std::runtime_error("the engine does not answer");
  check_that_it_counts(c);
  constexpr int pairs_a_round = 50;
  pairs p;
  for (int i = 0; i < n; ++i) one_round(c, uri, pairs_a_round, each, p);
  std::printf("same_script_ratio, %d pairs of %d ms: %.3f with, %.3f without; processor time: %+.2f %%\n",
              n * pairs_a_round, static_cast<int>(each.count()), median(p.with), median(p.without),
              (median(p.cpu_ratio) - 1) * 100);
  std::printf("stats: overhead=%.2f%% bytes=%zu bytes_per_group=%zu\n", (1 - median(p.rate_ratio)) * 100,
              bytes_of_a_client(), bytes_of_a_group());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_stats: %s\n", e.what());
  return 1;
}
