#include "sim/faults.hpp"

#include <algorithm>

namespace tyer::sim {

void faults::plan() {
  auto& time = around_.time;
  for (std::size_t i = 0; i < faults_per_run; ++i) {
    time.at(beginning + dice_.between(faults_begin, healed - 1s), [this] { one(); });
  }
  if (around_.planted == bug::wall_clock) {
    for (int i = 0; i < 20; ++i) {
      time.at(beginning + dice_.between(faults_begin, healed), [this] {
        const auto d = dice_.between(100ms, 5s);
        all_[dice_.below(clients)]->jump(dice_.chance(500) ? d : -d);
      });
    }
  }
  time.at(beginning + healed, [this] { heal(); });
}

void faults::one() {
  ++happened;
  process& p = *all_[dice_.below(clients)];
  const auto kind = dice_.below(100);
  around_.time.note("fault", kind);
  if (kind < 22) return pause_client(p);
  if (kind < 34) return kill_client(p);
  if (kind < 52) return cut_client(p);
  if (kind < 80) {
    const auto what = dice_.below(4);
    if (dice_.chance(700)) return bad_weather(what, p.index());
    for (std::size_t c = 0; c < clients; ++c) bad_weather(what, c);
    return;
  }
  if (kind < 86) return pause_server();
  if (kind < 92) return restart_server(0);
  if (kind < 95) return restart_server(1);
  if (kind < 97) return restart_server(2);
  around_.peer.break_one(dice_.next());
}

void faults::pause_client(process& p) {
  p.pause();
  around_.time.in(dice_.skewed(20ms, 10s), [&p] { p.resume(); });
}

void faults::kill_client(process& p) {
  const bool properly = dice_.chance(300);
  const auto dies = properly ? dice_.between(10ms, 1s) : duration{};
  if (properly) p.close();
  around_.time.in(dies, [&p] { p.kill(); });
  around_.time.in(dies + dice_.skewed(50ms, 5s), [&p] { p.start(); });
}

// First nothing gets through any more, then somebody notices.
void faults::cut_client(process& p) {
  const auto unnoticed = dice_.chance(300) ? duration{} : dice_.skewed(1ms, 3s);
  p.stall(unnoticed);
  around_.time.in(unnoticed, [this, &p] { p.cut(dice_.chance(600), dice_.skewed(5ms, 4s)); });
}

void faults::bad_weather(std::size_t kind, std::size_t client) {
  weather& w = around_.wires.over[client];
  const auto until = around_.time.now() + dice_.between(200ms, 6s);
  switch (kind) {
    case 0:
      w.slow = until;
      w.slowness = dice_.skewed(5ms, 1500ms);
      break;
    case 1: w.lossy = until; break;
    case 2: w.deaf = until; break;
    default: w.repeating = until; break;
  }
}

void faults::pause_server() {
  if (!around_.peer.up) return;
  around_.wires.pause_server();
  around_.time.in(dice_.skewed(50ms, 5s), [this] { around_.wires.resume_server(); });
}

void faults::restart_server(int memory) {
  const auto ago = dice_.skewed(5ms, 3s);
  if (memory == 1) around_.peer.remember();
  around_.time.in(memory == 1 ? ago : duration{}, [this, memory] {
    server& s = around_.peer;
    if (!s.up) return;
    around_.time.note("s down", static_cast<std::uint64_t>(memory));
    s.up = false;
    around_.wires.drop_unread();
    for (auto& p : all_) p->cut(false, dice_.between(5ms, 500ms));
    if (memory == 1) s.roll_back();
    if (memory == 2) s.wipe();
    around_.time.in(dice_.skewed(50ms, 2s), [this] { come_back(); });
  });
}

void faults::come_back() {
  server& s = around_.peer;
  if (s.up) return;
  s.up = true;
  ++s.generation;
  around_.time.note("s up", s.generation);
}

void faults::heal() {
  around_.time.note("healed");
  come_back();
  around_.wires.resume_server();
  around_.wires.over = {};
  for (auto& p : all_) {
    p->start();
    p->resume();
  }
}

}  // namespace tyer::sim
