// Checks from time to time whether the engine still answers: an observation reports changes, but no outage.
#pragma once

#include "text/entries.hpp"

#include <tyer/admin.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace cli {

class doubt {
 public:
  // How long an engine may be silent before it is asked; its answer may take client_options::request_timeout.
  static constexpr std::chrono::milliseconds least{2000};

  struct look {
    tyer::failure why;  // why the holder is not known
    entries all;
  };

  doubt(tyer::admin admin, std::string name, std::chrono::milliseconds every)
      : admin_(std::move(admin)), name_(std::move(name)), every_(std::max(every, least)) {}

  std::chrono::milliseconds left() const {
    using std::chrono::milliseconds;
    return std::max(std::chrono::ceil<milliseconds>(next_ - clock::now()), milliseconds::zero());
  }

  // Asks the engine if it is time to do so.
  std::optional<look> take() {
    if (clock::now() < next_) return std::nullopt;
    look l;
    l.all = admin_.show(l.why, name_);
    next_ = clock::now() + every_;
    return l;
  }

 private:
  using clock = std::chrono::steady_clock;

  tyer::admin admin_;
  std::string name_;
  std::chrono::milliseconds every_;
  clock::time_point next_ = clock::now() + every_;
};

}  // namespace cli
