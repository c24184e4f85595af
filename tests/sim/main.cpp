// Runs seeds. A failing one is printed, and replays exactly:
//
//   tyer_sim --seeds 1..10000 [--jobs 2] [--bug NAME]
//   tyer_sim --seed 4711 [--trace] [--bug NAME]
#include "sim/simulation.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using tyer::sim::bug;
using tyer::sim::verdict;

struct order {
  std::uint64_t first = 1, last = 1000;
  unsigned jobs = 1;
  bool trace = false;
  bug planted = bug::none;
};

[[noreturn]] void usage() {
  std::fputs("usage: tyer_sim --seeds A..B [--jobs N] [--bug NAME] | --seed N [--trace] [--bug NAME]\nbugs:", stderr);
  for (const auto& b : tyer::sim::bug_names)
    std::fprintf(stderr, " %.*s", static_cast<int>(b.name.size()), b.name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

bug bug_called(std::string_view name) {
  for (const auto& b : tyer::sim::bug_names) {
    if (b.name == name) return b.what;
  }
  usage();
}

order read(int argc, char** argv) {
  order o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--trace") {
      o.trace = true;
      continue;
    }
    if (++i == argc) usage();
    const char* value = argv[i];
    if (option == "--seed") {
      o.first = o.last = std::strtoull(value, nullptr, 0);
    } else if (option == "--seeds") {
      const char* dots = std::strstr(value, "..");
      if (dots == nullptr) usage();
      o.first = std::strtoull(value, nullptr, 0);
      o.last = std::strtoull(dots + 2, nullptr, 0);
    } else if (option == "--jobs") {
      o.jobs = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    } else if (option == "--bug") {
      o.planted = bug_called(value);
    } else {
      usage();
    }
  }
  if (o.jobs == 0 || o.last < o.first) usage();
  return o;
}

struct sums {
  std::uint64_t seeds = 0, failed = 0, events = 0, grants = 0, handoffs = 0, conversions = 0, faults = 0, losses = 0,
                unknowns = 0, writes = 0, refused = 0;

  void add(const verdict& v) {
    ++seeds;
    failed += v.clean() ? 0 : 1;
    events += v.events;
    grants += v.grants;
    handoffs += v.handoffs;
    conversions += v.conversions;
    faults += v.faults;
    losses += v.losses;
    unknowns += v.unknowns;
    writes += v.writes;
    refused += v.refused_writes;
  }
};

void print_failure(const order& o, std::uint64_t seed, const verdict& v) {
  std::printf("FAILED --seed %llu", static_cast<unsigned long long>(seed));
  if (o.planted != bug::none) std::printf(" (with a planted bug)");
  std::printf("\n");
  for (const auto& line : v.violations) std::printf("  %s\n", line.c_str());
}

// Of the processor, not of the clock on the wall: others may be using the machine.
double seconds_worked() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const order o = read(argc, argv);
  std::atomic<std::uint64_t> next{o.first};
  std::mutex mutex;
  sums all;
  const auto work = [&] {
    for (auto seed = next++; seed <= o.last; seed = next++) {
      const verdict v = tyer::sim::simulate(seed, o.planted, o.trace);
      const std::lock_guard lock{mutex};
      all.add(v);
      if (!v.clean() && all.failed <= 20) print_failure(o, seed, v);
      if (o.first == o.last)
        std::printf("hash=%016llx events=%llu\n", static_cast<unsigned long long>(v.hash),
                    static_cast<unsigned long long>(v.events));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned j = 1; j < o.jobs; ++j) threads.emplace_back(work);
  work();
  for (auto& t : threads) t.join();

  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf(
      "sim: seeds=%llu seeds_per_second_per_core=%.0f acquisitions=%llu handoffs=%llu conversions=%llu faults=%llu "
      "events=%llu losses=%llu "
      "unknowns=%llu "
      "writes=%llu refused_writes=%llu failed=%llu\n",
      n(all.seeds), static_cast<double>(all.seeds) / seconds_worked(), n(all.grants), n(all.handoffs),
      n(all.conversions), n(all.faults), n(all.events), n(all.losses), n(all.unknowns), n(all.writes), n(all.refused),
      n(all.failed));
  return all.failed == 0 ? 0 : 1;
}
