// A bench whose coordinator counts, for the tests of what it counts: every number, at the moment it is decided.
#pragma once

#include "runtime/coordinator/relay.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {

struct counting_bench : bench {
  using bench::bench;

  client_stats stats() { return coordinator.board()->read(); }
  group_stats counted() { return stats().groups.at(0); }
  std::uint64_t ended(acquire_end how) { return counted().acquire_duration[how].count(); }
  lease::duration took(acquire_end how) { return counted().acquire_duration[how].sum; }
  std::uint64_t lost(loss_reason why) { return counted().losses[why]; }
  // Time goes on, and no renewal has an answer.
  void pass_in_silence(lease::duration d) {
    for (const auto end = clock.now() + d; clock.now() < end;) {
      pass(500ms);
      for (auto& k : engine.keeps) {
        if (!k.answered()) k.fail(why::unknown);
      }
    }
  }
  // All acquires and all losses: whatever a test counts, nothing else was counted beside it.
  std::uint64_t all_ended() {
    std::uint64_t n = 0;
    for (const auto& h : counted().acquire_duration.all) n += h.count();
    return n;
  }
  std::uint64_t all_lost() {
    std::uint64_t n = 0;
    for (const auto l : counted().losses.all) n += l;
    return n;
  }
};

}  // namespace tyer::testing
