// tyer bench: how quick locks are here, on this engine.
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "text/duration.hpp"
#include "text/figures.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"
#include "text/table.hpp"

#include <tyer/mutex.hpp>

#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

struct options {
  std::chrono::milliseconds during{2s};
};

struct result {
  std::size_t callers;
  figures cycles;
  double per_second;
};

std::vector<nanoseconds> one_caller(const tyer::client& c, const std::string& name, steady_clock::time_point until) {
  const tyer::mutex lock{c, name, {.local_handoffs = 0}};
  std::vector<nanoseconds> all;
  for (auto start = steady_clock::now(); start < until;) {
    tyer::hold h = lock.acquire();
    h.release();
    const auto end = steady_clock::now();
    all.push_back(end - start);
    start = end;
  }
  return all;
}

// Each caller has a lock of its own: this measures the engine and the network, not a queue.
result measure(const tyer::client& c, std::size_t callers, std::chrono::milliseconds during) {
  std::mutex mutex;
  std::vector<nanoseconds> all;
  std::exception_ptr wrong;
  const auto start = steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < callers; ++i) {
      threads.emplace_back([&, i] {
        const auto name = "tyer-bench/" + std::to_string(::getpid()) + '/' + std::to_string(i);
        try {
          const auto mine = one_caller(c, name, start + during);
          const std::lock_guard lock{mutex};
          all.insert(all.end(), mine.begin(), mine.end());
        } catch (...) {
          const std::lock_guard lock{mutex};
          wrong = std::current_exception();
        }
      });
    }
  }
  if (wrong) std::rethrow_exception(wrong);
  const std::chrono::duration<double> took = steady_clock::now() - start;
  const auto per_second = static_cast<double>(all.size()) / took.count();
  return {callers, figures{std::move(all)}, per_second};
}

void print_json(const std::string& engine, const std::vector<result>& results) {
  json j = {{"engine", engine}, {"runs", json::array()}};
  for (const auto& r : results) {
    j["runs"].push_back({{"callers", r.callers},
                         {"cycles", r.cycles.count()},
                         {"per_second", r.per_second},
                         {"median_ms", as_ms(r.cycles.at(0.5))},
                         {"p99_ms", as_ms(r.cycles.at(0.99))}});
  }
  print(j);
}

exit_code bench(session& s, const options& o) {
  auto& client = s.client();
  const auto engine = s.admin().address();
  std::vector<result> results;
  for (const std::size_t callers : {1u, 64u}) {
    const progress going{s.screen(), [&] { return "lock and unlock with " + std::to_string(callers) + " callers"; }};
    results.push_back(measure(client, callers, o.during));
  }
  if (s.json()) return print_json(engine, results), exit_code::ok;
  table t{{{"CALLERS", true}, {"MEDIAN", true}, {"P99", true}, {"PER SECOND", true}}};
  for (const auto& r : results) {
    t.add({{std::to_string(r.callers)},
           {shown_exactly(r.cycles.at(0.5))},
           {shown_exactly(r.cycles.at(0.99))},
           {std::to_string(static_cast<long>(r.per_second))}});
  }
  std::cout << "lock and unlock, each caller a lock of its own, at " << short_address(engine) << "\n\n"
            << t.text(s.screen());
  return exit_code::ok;
}

}  // namespace

command bench_command() {
  return {
      .name = "bench",
      .summary = "Measure how fast locking is on your engine, from here",
      .details =
          "Locks and unlocks for some seconds with one caller, then with 64, over one client and one connection, each "
          "caller with a lock of its own under tyer-bench/. This puts load on the engine: do not run it on an engine "
          "that others use.",
      .examples = {{"tyer bench --for 5s", "five seconds each"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_duration(app, "--for", o->during, "How long each of the two measurements takes");
        return [o](session& s) { return bench(s, *o); };
      }};
}

}  // namespace cli
