// What observers of an election cost the server: a few requests each when the leader changes, and nothing when somebody joins.
#include "etcd/server.hpp"

#include <tyer/async.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tyer::contract {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 60s;

template <class F>
bool eventually(F ready) {
  for (const auto end = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < end;) {
    if (ready()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return ready();
}

// Candidates, each with a client of its own, which all observe.
class crowd {
 public:
  explicit crowd(const std::string& n) : name_(n + std::to_string(::getpid())) {}
  ~crowd() {
    all_.clear();
    const std::lock_guard lock{mutex_};
    leaders_.clear();
  }

  void join(bool wait = true) {
    auto& c = *all_.emplace_back(std::make_unique<candidate>(name_));
    c.watching = c.stands.observe([&c](const std::optional<leadership>& now) { c.knows = now ? now->term : 0; });
    start_acquire(
        c.stands,
        [this](const failure&, hold h) {
          const std::lock_guard lock{mutex_};
          if (h) leaders_.push_back(std::move(h));
        },
        stop_.get_token());
    if (!wait) return;
    const auto n = all_.size();
    ASSERT_TRUE(eventually([&] { return admin{all_.front()->own}.show(name_).size() == n; }));
  }
  std::uint64_t term() {
    const std::lock_guard lock{mutex_};
    return leaders_.empty() ? 0 : leaders_.back().token();
  }
  bool all_know() {
    const auto now = term();
    return now != 0 && std::ranges::all_of(all_, [&](const auto& c) { return c->knows == now; });
  }
  void next_leader() {
    hold last;
    {
      const std::lock_guard lock{mutex_};
      last = std::move(leaders_.front());
      leaders_.clear();
    }
    last.release();
  }
  std::size_t size() const { return all_.size(); }
  void stop() { stop_.request_stop(); }

 private:
  struct candidate {
    explicit candidate(const std::string& name) : stands(own, name, {.ttl = 60s}) {}
    client own{std::getenv("TYER_URI")};
    election stands;
    std::atomic<std::uint64_t> knows{0};
    observation watching;
  };
  const std::string name_;
  std::list<std::unique_ptr<candidate>> all_;
  std::mutex mutex_;
  std::list<hold> leaders_;
  std::stop_source stop_;
};

struct observers : ::testing::Test {
  const bench::etcd_server server{std::getenv("TYER_URI")};

  // All but the renewals of leases, which go on meanwhile.
  std::uint64_t requests() const { return server.requests() - server.requests("LeaseKeepAlive"); }

  // Until the server has been left alone for a while.
  std::uint64_t settled() {
    auto last = requests();
    eventually([&] {
      std::this_thread::sleep_for(200ms);
      return std::exchange(last, requests()) == last;
    });
    return last;
  }
  // The least of some turns: now and then somebody looks without need.
  std::uint64_t of_a_change(crowd& all) {
    auto least = ~std::uint64_t{0};
    for (int i = 0; i < 3 && all.size() > static_cast<std::size_t>(i) + 1; ++i) {
      const auto before = settled();
      all.next_leader();
      EXPECT_TRUE(eventually([&] { return all.all_know(); }));
      least = std::min(least, settled() - before);
    }
    return least;
  }
};

// It was: with every change, a waiter that joined too, every observer asked for the lease of every holder and waiter: 3,000
// requests for a change of the leader among 40.
TEST_F(observers, of_an_election_asked_for_every_lease_of_every_candidate) {
  constexpr std::uint64_t most = 10;  // for each observer: looks, the release, the claim
  for (const int n : {2, 40}) {
    crowd all{"observed-" + std::to_string(n) + '-'};
    for (int i = 0; i < n; ++i) all.join();
    ASSERT_TRUE(eventually([&] { return all.all_know(); }));
    const auto cost = of_a_change(all);
    std::cout << "candidates=" << n << " requests_of_a_change=" << cost << '\n';
    EXPECT_LE(cost, most * static_cast<std::uint64_t>(n)) << n << " candidates";
    all.stop();
  }
}

TEST_F(observers, of_an_election_looked_when_somebody_joined) {
  crowd all{"joined-"};
  for (int i = 0; i < 30; ++i) all.join();
  ASSERT_TRUE(eventually([&] { return all.all_know(); }));
  auto least = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    const auto before = settled();
    all.join(false);
    least = std::min(least, settled() - before);
  }
  std::cout << "requests_of_joining=" << least << '\n';
  EXPECT_LE(least, 20u) << "its own connection, lease, place and watches, and nobody else's";
  all.stop();
}

}  // namespace
}  // namespace tyer::contract
