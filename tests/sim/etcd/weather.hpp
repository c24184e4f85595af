// How the ways between clients and servers are, by chance: lossy, slow, refusing, repeating, for a while.
#pragma once

#include "sim/dice.hpp"
#include "sim/etcd/fake_etcd.hpp"
#include "sim/etcd/plan.hpp"

#include <array>

namespace tyer::sim::etcd {

class weather {
 public:
  weather(const world& w, dice d, slip s) : world_(w), dice_(d), slip_(s) {}

  journey over(const exchange&);
  duration latency(std::size_t client);
  void turn(std::size_t client, bool for_all);  // bad, in some way
  void clear() { over_ = {}; }

  // A bug of an engine, planted: it sends something else.
  void bend(const exchange&, std::string& request) const;

 private:
  struct sky {
    moment slow, lossy, refusing, repeating, breaking;
    duration slowness{};
  };
  const world& world_;
  dice dice_;
  const slip slip_;
  std::array<sky, clients_max> over_{};
};

}  // namespace tyer::sim::etcd
