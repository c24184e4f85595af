// The size of a run, and the few things that differ from seed to seed but not within one.
#pragma once

#include "engine/engine.hpp"
#include "sim/dice.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace tyer::sim {

using std::chrono::milliseconds;

inline constexpr std::size_t clients = 8;
inline constexpr std::size_t workers_per_client = 3;
inline constexpr std::size_t faults_per_run = 20;
inline constexpr std::array<std::string_view, 4> names{"order", "stock", "cache", "pool"};
inline constexpr std::size_t plain_name = 0;   // a mutex and nothing else; "stock" may have delays and limits
inline constexpr std::size_t shared_name = 2;  // readers and writers, and those who change from one to the other
inline constexpr std::size_t permit_name = 3;  // a semaphore
inline constexpr std::uint32_t permits = 3;

inline constexpr std::array<milliseconds, 3> ttls{milliseconds{600}, milliseconds{1500}, milliseconds{4000}};
inline constexpr milliseconds ttl_max = ttls.back();

inline constexpr duration faults_begin = 1s, healed = 36s, work_ends = 48s, drained_by = 100s;

struct scenario {
  // What a lock is made with, of each name.
  struct manner {
    milliseconds lock_delay{}, min_hold{}, max_hold{};
  };

  milliseconds request_timeout;
  milliseconds unavailable_after;
  std::array<std::uint32_t, 3> handoffs;  // by ttl
  unsigned drift_ppm_max;                 // how much faster or slower a client's clock may run than the server's
  unsigned readers_permille;              // of those who want the shared name
  std::array<manner, names.size()> of;

  static scenario of_seed(dice& d) {
    constexpr std::array timeouts{milliseconds{250}, milliseconds{700}, milliseconds{2000}};
    constexpr std::array<std::uint32_t, 4> handoffs{0, 1, 16, 255};
    scenario s;
    s.request_timeout = timeouts[d.below(timeouts.size())];
    s.unavailable_after = d.chance(500) ? milliseconds{30000} : milliseconds{5000};
    for (auto& h : s.handoffs) h = handoffs[d.below(handoffs.size())];
    s.drift_ppm_max = d.chance(500) ? 0 : 20000;
    s.readers_permille = d.chance(500) ? 900 : 600;
    for (std::size_t n = 0; n < names.size(); ++n) {
      if (n != plain_name) s.of[n] = manner_of_seed(d);
    }
    return s;
  }

  static milliseconds waiter_ttl(milliseconds ttl) {
    return std::chrono::ceil<milliseconds>(lease::default_waiter_ttl(ttl));
  }

  // How long a name may lie idle, with a live waiter and nobody's valid hold, once the faults are over: what a dead
  // holder left behind expires, then what a dead waiter was handed, then a request whose answer is lost is repeated.
  duration idle_max(std::size_t name) const {
    return ttl_max + 2 * waiter_ttl(ttl_max) + 2 * request_timeout + 1s + of[name].lock_delay + of[name].min_hold;
  }

 private:
  static manner manner_of_seed(dice& d) {
    constexpr std::array delays{milliseconds{0}, milliseconds{0}, milliseconds{300}, milliseconds{2000}};
    constexpr std::array least{milliseconds{0}, milliseconds{0}, milliseconds{50}, milliseconds{400}};
    manner m;
    m.lock_delay = delays[d.below(delays.size())];
    m.min_hold = least[d.below(least.size())];
    m.max_hold = d.chance(300) ? ttl_max / 2 : milliseconds{0};
    return m;
  }
};

inline std::size_t index_of(std::string_view name) {
  std::size_t i = 0;
  while (names[i].front() != name.front()) ++i;  // they differ in it
  return i;
}

}  // namespace tyer::sim
