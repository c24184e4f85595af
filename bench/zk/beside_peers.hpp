// Curator or kazoo in turns with Tyer, if it is there.
#pragma once

#include "common/beside.hpp"
#include "common/peer.hpp"

#include <string>
#include <vector>

namespace bench {

class beside_peer {
 public:
  static constexpr int waiters = 64;

  beside_peer(const std::string& uri, std::string name, const char* variable)
      : name_(std::move(name)), peer_(uri, variable) {}

  void one_round(const beside& of_tyer, milliseconds each);
  void hand_over(double usec_of_two, double usec_of_many, milliseconds each);  // Tyer's
  std::string words() const;                                                   // for the closing line

 private:
  bool is_there() const { return peer_.is_there() && !failed_; }
  // One that fails is left out, and Tyer measured all the same.
  template <class F>
  void attempt(F what);

  std::string name_;
  peer peer_;
  std::vector<double> ratio_, ratio64_;
  double handover_ratio_ = 0;
  bool failed_ = false;
};

}  // namespace bench
