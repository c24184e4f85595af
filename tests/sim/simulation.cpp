#include "sim/simulation.hpp"

#include "sim/checker.hpp"
#include "sim/faults.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"
#include "sim/server.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace tyer::sim {

namespace {

class run {
 public:
  run(std::uint64_t seed, bug planted, bool trace)
      : dice_(seed),
        terms_(scenario::of_seed(dice_)),
        time_(trace),
        server_(time_, planted),
        network_(time_, server_, dice_.fork()),
        checks_(time_),
        around_{time_, server_, network_, checks_, terms_, planted},
        faults_(around_, all_, dice_.fork()) {
    server_.tell = [this](const kit::notice& n) { all_[(n.who.nonce() & 0xff) - 1]->push(n); };
    server_.lost = [this](std::size_t name, moment until) { checks_.lost_data(name, until); };
    server_.broken = [this](std::size_t name, const id& who, moment until) { checks_.broken(name, who, until); };
    for (std::size_t i = 0; i < clients; ++i) all_.push_back(std::make_unique<process>(around_, i, dice_.fork()));
  }

  verdict go() {
    for (auto& p : all_) p->start();
    faults_.plan();
    look_later();
    time_.run_until(beginning + work_ends);
    around_.draining = true;
    const auto give_up = beginning + drained_by;
    while (!drained() && time_.now() < give_up) time_.run_until(time_.now() + 500ms);
    check_end();
    for (auto& p : all_) p->kill();
    checks_.finish();
    return sum_up();
  }

 private:
  bool drained() const {
    return std::all_of(all_.begin(), all_.end(), [](const auto& p) { return p->idle(); });
  }

  void look_later() {
    time_.in(250ms, [this] {
      look();
      look_later();
    });
  }

  void look() {
    for (auto& p : all_) p->look();
    for (std::size_t n = 0; n < names.size(); ++n) {
      const bool waits = std::ranges::any_of(all_, [n](const auto& p) { return p->waits_for(n); });
      const bool upgrades = std::ranges::any_of(all_, [n](const auto& p) { return p->upgrades(n); });
      checks_.look(n, waits, upgrades, terms_.idle_max(n));
      const auto all = server_.entries(n);
      look_for_orphans(n, all);
      look_for_revenants(n, all);
      look_for_upgrades(all);
    }
  }

  // What a live client has given back, and been told so, must not be there once no late request can bring it back.
  void look_for_orphans(std::size_t name, const std::vector<occupant>& all) {
    const auto late = time_.now() - 2 * terms_.request_timeout * 103 / 100 - 100ms;
    for (const auto& e : all) {
      const auto let_go = all_[(e.who.nonce() & 0xff) - 1]->let_go(e.who);
      if (!let_go || *let_go > late || server_.excused(e.who)) continue;
      time_.broken("live", "an orphan is left at the server: client " + std::to_string((e.who.nonce() & 0xff) - 1) +
                               " gave back " + std::to_string(e.who.serial()) + " of " + std::string{names[name]});
    }
  }

  // What is over comes back only if somebody asks for it again: keeping never makes anything.
  void look_for_revenants(std::size_t name, const std::vector<occupant>& all) {
    std::set<id> here;
    for (const auto& e : all) {
      here.insert(e.who);
      const auto over = over_.find(e.who);
      if (over == over_.end()) continue;
      if (server_.last_asked_for(e.who) <= over->second && !server_.excused(e.who)) {
        time_.broken("live", "a hold or waiter that was over is back, and nobody has asked for it: client " +
                                 std::to_string((e.who.nonce() & 0xff) - 1) + " id " + std::to_string(e.who.serial()));
      }
      over_.erase(over);
    }
    for (const auto& who : here_[name]) {
      if (!here.contains(who)) over_.emplace(who, time_.now());
    }
    here_[name] = std::move(here);
  }

  // An upgrade that its owner has given up, or never heard of, must not keep the other readers out.
  void look_for_upgrades(const std::vector<occupant>& all) {
    for (const auto& e : all) {
      const bool stronger = e.what == fate::holding && (e.upgrading || e.how == mode::exclusive);
      if (!stronger || server_.excused(e.who) || !owner_of(e.who).only_reads(e.who)) continue;
      time_.broken("live", "an upgrade that was given up is still at the server: client " +
                               std::to_string(owner_of(e.who).index()) + " id " + std::to_string(e.who.serial()));
    }
  }

  process& owner_of(const id& who) { return *all_[(who.nonce() & 0xff) - 1]; }

  void check_end() {
    if (!drained()) time_.broken("live", "somebody is stuck: not everything is given back at the end");
    if (const auto left = server_.left(); left > 0) {
      time_.broken("live", "left at the server: " + std::to_string(left) + " holds or waiters");
    }
    if (server_.endless()) time_.broken("live", "something is left at the server for ever");
  }

  verdict sum_up() {
    verdict v;
    v.violations = time_.violations();
    v.hash = time_.hash();
    v.events = time_.events();
    v.grants = checks_.grants;
    v.handoffs = checks_.handoffs;
    v.conversions = checks_.conversions;
    v.faults = faults_.happened;
    v.writes = checks_.accepted;
    v.refused_writes = checks_.refused;
    for (auto& p : all_) {
      v.losses += p->losses;
      v.unknowns += p->unknowns;
    }
    return v;
  }

  dice dice_;
  scenario terms_;
  world time_;
  server server_;
  network network_;
  checker checks_;
  surroundings around_;
  faults::processes all_;
  faults faults_;
  std::array<std::set<id>, names.size()> here_;  // when it was last looked
  std::map<id, moment> over_;                    // since when
};

}  // namespace

verdict simulate(std::uint64_t seed, bug planted, bool trace) { return run{seed, planted, trace}.go(); }

}  // namespace tyer::sim
