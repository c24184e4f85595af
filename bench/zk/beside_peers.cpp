#include "zk/beside_peers.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace bench {

template <class F>
void beside_peer::attempt(F what) {
  if (!is_there()) return;
  try {
    what();
  } catch (const std::exception& e) {
    failed_ = true;
    std::fprintf(stderr, "bench_zk: without %s: %s\n", name_.c_str(), e.what());
  }
  std::fflush(stdout);
}

void beside_peer::one_round(const beside& of_tyer, milliseconds each) {
  attempt([&] {
    const double cycles = peer_.many(64, each), usec = peer_.one(each);
    ratio64_.push_back(of_tyer.cycles / cycles);
    ratio_.push_back(usec / of_tyer.usec);
    std::printf("%s: 64 callers on 64 names %.0f/s; one caller %.0f us\n", name_.c_str(), cycles, usec);
  });
}

void beside_peer::hand_over(double usec_of_two, double usec_of_many, milliseconds each) {
  attempt([&] {
    const double two = peer_.handover(2, each), many = peer_.handover(waiters, each);
    handover_ratio_ = std::min(two / usec_of_two, many / usec_of_many);
    std::printf("hand-over, %s: 2 waiters %.0f us, %d waiters %.0f us\n", name_.c_str(), two, waiters, many);
  });
}

std::string beside_peer::words() const {
  if (!is_there()) return {};
  char text[160];
  std::snprintf(text, sizeof text, " %s_ratio=%.2f %s_ratio64=%.2f %s_handover_ratio=%.2f", name_.c_str(),
                median(ratio_), name_.c_str(), median(ratio64_), name_.c_str(), handover_ratio_);
  return text;
}

}  // namespace bench
