#include "sim/etcd/simulation.hpp"

#include "sim/etcd/order_judge.hpp"
#include "sim/etcd/person.hpp"
#include "sim/etcd/weather.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace tyer::sim::etcd {

namespace {

constexpr int faults_planned = 25;
constexpr int copies_planned = 4;

class run {
 public:
  run(std::uint64_t seed, planted p, bool trace)
      : dice_(seed),
        time_(trace),
        store_(time_, p.server),
        fake_(time_, store_),
        checks_(time_),
        judge_(time_, prefix),
        weather_(time_, dice_.fork(), p.client),
        around_{time_, fake_, checks_, p, dice_.chance(500) ? milliseconds{700} : milliseconds{2000}} {
    store_.on_write = [this](const auto& before) { judge_.look(before, store_.all()); };
    fake_.decide = [this](const exchange& e) { return weather_.over(e); };
    fake_.latency = [this](std::size_t client) { return weather_.latency(client); };
    fake_.inside = [this](std::size_t client, task t) { all_[client]->deliver(std::move(t)); };
    fake_.bend = [this](const exchange& e, std::string& request) { weather_.bend(e, request); };
    for (std::size_t i = 0; i < people; ++i) all_.push_back(std::make_unique<person>(around_, i, dice_.fork()));
  }

  verdict go() {
    for (auto& p : all_) p->start();
    for (int i = 0; i < faults_planned; ++i) {
      time_.at(beginning + dice_.between(faults_begin, healed - 1s), [this] { fault(); });
    }
    if (around_.bug.sets_back) copy_and_set_back();
    time_.at(beginning + healed, [this] { heal(); });
    look_later();
    time_.run_until(beginning + work_ends);
    around_.draining = true;
    const auto end = beginning + drained_by;
    while (!(drained() && judge_.left(store_.all()) == 0) && time_.now() < end) time_.run_until(time_.now() + 500ms);
    check_end();
    for (auto& p : all_) p->kill();
    checks_.finish();
    return {time_.violations(), time_.hash(),        time_.events(), fake_.calls,
            checks_.grants,     checks_.conversions, faults_};
  }

 private:
  bool drained() const {
    return std::ranges::all_of(all_, [](const auto& p) { return p->idle(); });
  }

  void look_later() {
    time_.in(250ms, [this] {
      for (std::size_t n = 0; n < names.size(); ++n) {
        const bool waits = std::ranges::any_of(all_, [n](const auto& p) { return p->waits_for(n); });
        checks_.look(n, waits, false, idle_max());
      }
      look_for_orphans();
      look_later();
    });
  }

  // What nobody of a live client wants any more must not be there for long: it would be for as long as its lease is kept for
  // others.
  void look_for_orphans() {
    std::map<std::string, moment> still;
    for (const auto& [key, kv] : store_.all()) {
      const auto where = names_.read(key);
      const auto record = tyer::etcd::read_value(kv.value());
      if (!where || !where->at || !record) continue;
      const auto who = tyer::etcd::who_is(*record, *where->at);
      const auto& owner = *all_[(who.nonce() & 0xff) - 1];
      if (!owner.could_take_away(who)) continue;
      const auto of = key + " of " + to_hex(who);
      const auto since = orphans_.contains(of) ? orphans_.at(of) : time_.now();
      still[of] = since;
      if (time_.now() - since > orphan_max()) time_.broken("live", "an orphan is left at the server: " + of);
    }
    orphans_ = std::move(still);
  }
  // It is looked for when what was asked for would be over, and once more after each request that came to nothing.
  duration orphan_max() const { return ttl_max + 3 * around_.request_timeout + 2s; }

  // What a dead holder left lives as long as its lease, and etcd looks twice a second; so does what a dead waiter was handed.
  // Then a request whose answer is lost is repeated.
  duration idle_max() const { return ttl_max + 2 * scenario::waiter_ttl(ttl_max) + 2s + 2 * around_.request_timeout; }

  void fault() {
    ++faults_;
    const auto client = dice_.below(people);
    person& p = *all_[client];
    const auto kind = dice_.below(100);
    time_.note("fault", kind, client);
    if (kind < 15) {
      p.stop(dice_.chance(500));
      return time_.in(dice_.skewed(20ms, 8s), [&p] { p.go_on(); });
    }
    if (kind < 25) {
      p.kill();
      return time_.in(dice_.skewed(50ms, 5s), [&p] { p.start(); });
    }
    if (kind < 35) {
      fake_.stall(client, time_.now() + dice_.skewed(5ms, 3s));
      return time_.in(dice_.skewed(1ms, 2s), [this, client] { fake_.cut(client); });
    }
    if (kind < 75) return weather_.turn(client, dice_.chance(300));
    if (kind < 82) {
      fake_.pause();
      return time_.in(dice_.skewed(50ms, 5s), [this] { fake_.resume(); });
    }
    if (kind < 90) return restart(dice_.below(servers));
    if (kind < 95) {
      store_.restarted();
      for (std::size_t s = 0; s < servers; ++s) restart(s);
      return;
    }
    store_.compact();
  }

  // With all servers down meanwhile, as it is done.
  void copy_and_set_back() {
    for (int i = 0; i < copies_planned; ++i) {
      const auto at = beginning + dice_.between(faults_begin, healed - 12s);
      time_.at(at, [this] { store_.save(); });
      time_.at(at + dice_.skewed(20ms, 10s), [this] {
        time_.note("set back");
        for (std::size_t s = 0; s < servers; ++s) restart(s);
        fake_.set_back();
      });
    }
  }

  void restart(std::size_t server) {
    fake_.set_up(server, false);
    time_.in(dice_.skewed(50ms, 2s), [this, server] { fake_.set_up(server, true); });
  }

  void heal() {
    time_.note("healed");
    weather_.clear();
    fake_.resume();
    for (std::size_t s = 0; s < servers; ++s) fake_.set_up(s, true);
    for (auto& p : all_) {
      p->start();
      p->go_on();
    }
  }

  void check_end() {
    std::string who;
    for (const auto& p : all_) who += p->stuck();
    if (!who.empty()) time_.broken("live", "somebody is stuck:" + who);
    if (const auto n = judge_.left(store_.all()); n > 0) {
      time_.broken("live", "left at the server: " + std::to_string(n) + " holds or places");
    }
  }

  dice dice_;
  world time_;
  store store_;
  fake_etcd fake_;
  checker checks_;
  order_judge judge_;
  weather weather_;
  surroundings around_;
  std::vector<std::unique_ptr<person>> all_;
  const tyer::etcd::keys names_{prefix};
  std::map<std::string, moment> orphans_;  // since when
  std::uint64_t faults_ = 0;
};

}  // namespace

verdict simulate(std::uint64_t seed, planted p, bool trace) { return run{seed, p, trace}.go(); }

}  // namespace tyer::sim::etcd
