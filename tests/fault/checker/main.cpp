// fault_checker FOLDER [--ttl-ms N] [--waiter-ttl-ms N] [--lingers-ms N] [--explain N]
//
// Reads every *.hist in the folder and prints one line of counts, `faults=12 acquisitions=3400 ...`. With --explain the
// first N breaches of each check follow on stderr. Exit code 0 whatever the counts, 2 if there is no verdict.
#include "checker/checks.hpp"
#include "history/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

namespace {

struct command {
  std::string folder;
  fault::limits limits;
  std::size_t explain = 0;
};

bool parse(int argc, char** argv, command& c) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      c.folder = word;
      continue;
    }
    if (++i == argc) return false;
    const long long value = std::atoll(argv[i]);
    if (word == "--ttl-ms") {
      c.limits.ttl_ns = value * 1'000'000;
    } else if (word == "--waiter-ttl-ms") {
      c.limits.waiter_ttl_ns = value * 1'000'000;
    } else if (word == "--lingers-ms") {
      c.limits.lingers_ns = value * 1'000'000;
    } else if (word == "--explain") {
      c.explain = static_cast<std::size_t>(value);
    } else {
      return false;
    }
  }
  return !c.folder.empty();
}

using finding = std::pair<const char*, std::vector<fault::breach>>;

void explain(const std::vector<finding>& findings, std::size_t most) {
  for (const auto& [name, breaches] : findings) {
    for (std::size_t i = 0; i < std::min(most, breaches.size()); ++i) {
      std::fprintf(stderr, "%s at %s: %s\n", name, fault::seconds(breaches[i].at).c_str(), breaches[i].words.c_str());
    }
  }
}

// 0 if there are none.
std::int64_t median(std::vector<std::int64_t> all) {
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

void judge(const command& c) {
  const fault::story s = fault::tell(fault::read_histories(c.folder));
  const std::vector<finding> findings{
      {"stale_accepted", fault::stale_accepted(s)},
      {"token_order", fault::token_order(s, c.limits)},
      {"overlaps", fault::overlaps(s, c.limits)},
      {"late_loss", fault::late_loss(s, c.limits)},
      {"needless_loss", fault::needless_loss(s, c.limits)},
      {"stuck", fault::stuck(s, c.limits)},
      {"readers_beside_writer", fault::readers_beside_writer(s, c.limits)},
      {"permits_over", fault::permits_over(s, c.limits)},
      {"order", fault::order(s)},
      {"double_grants", fault::double_grants(s, c.limits)},
      {"tokens_lost", fault::tokens_lost(s)},
      {"tokens_crossed", fault::tokens_crossed(s, c.limits)},
  };
  const auto refused =
      std::count_if(s.writes.begin(), s.writes.end(), [](const auto& w) { return w.answer == fault::verdict::stale; });
  std::printf("faults=%llu acquisitions=%zu stale_offered=%lld", static_cast<unsigned long long>(s.faults),
              s.grants.size(), static_cast<long long>(refused));
  for (const auto& [name, breaches] : findings) std::printf(" %s=%zu", name, breaches.size());
  std::printf(" places_seen=%zu starved=%zu failover_to_grant_ms=%lld backwards_us_max=%llu\n", fault::places_seen(s),
              fault::starved(s, c.limits), static_cast<long long>(median(fault::failover_to_grant(s)) / 1'000'000),
              static_cast<unsigned long long>(fault::backwards_max(s)));
  explain(findings, c.explain);
}

}  // namespace

int main(int argc, char** argv) {
  command c;
  if (!parse(argc, argv, c)) {
    std::fputs("usage: fault_checker FOLDER [--ttl-ms N] [--waiter-ttl-ms N] [--lingers-ms N] [--explain N]\n", stderr);
    return 2;
  }
  try {
    judge(c);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fault_checker: %s\n", e.what());
    return 2;
  }
}
