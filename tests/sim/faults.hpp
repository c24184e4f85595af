// What goes wrong in a run, and when.
#pragma once

#include "sim/network.hpp"
#include "sim/process.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tyer::sim {

class faults {
 public:
  using processes = std::vector<std::unique_ptr<process>>;

  faults(surroundings& s, processes& all, dice d) : around_(s), all_(all), dice_(d) {}

  void plan();
  // Everything is well again, and stays so.
  void heal();

  std::uint64_t happened = 0;

 private:
  void one();
  void pause_client(process& p);
  void kill_client(process& p);
  void cut_client(process& p);
  void bad_weather(std::size_t kind, std::size_t client);
  void pause_server();
  void restart_server(int memory);  // 0: keeps all, 1: loses the last writes, 2: loses everything
  void come_back();

  surroundings& around_;
  processes& all_;
  dice dice_;
};

}  // namespace tyer::sim
