// The insides of a multi_mutex and of its hold, for whoever acquires them and gives them back.
#pragma once

#include "api/access.hpp"
#include "primitives/multi.hpp"
#include "runtime/fork.hpp"

#include <tyer/multi_mutex.hpp>

#include <list>
#include <memory>
#include <source_location>
#include <stop_token>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

class multi_state {
 public:
  primitives::locks locks;
  std::source_location made_at;
};

class multi_hold_state {
 public:
  explicit multi_hold_state(std::vector<hold> all) : parts(std::move(all)) {
    for (const hold& h : parts) on_loss_->emplace_back(h.lost(), tell{&lost});
  }
  // In a forked child a callback may seem to run for ever, on a thread that did not come along: let them lie.
  ~multi_hold_state() {
    if (birth.forked()) static_cast<void>(on_loss_.release());
  }

  const runtime::birth birth;
  std::vector<hold> parts;
  std::stop_source lost;

 private:
  struct tell {
    std::stop_source* lost;
    void operator()() const {
      const std::stop_source kept = *lost;  // whoever is told may destroy us meanwhile
      kept.request_stop();
    }
  };
  using callbacks = std::list<std::stop_callback<tell>>;

  std::unique_ptr<callbacks> on_loss_ = std::make_unique<callbacks>();  // the last member, so the first to go
};

struct multi_maker {
  static multi_hold make(std::vector<hold> parts) {
    return multi_hold{std::make_unique<multi_hold_state>(std::move(parts))};
  }
  static const std::shared_ptr<const multi_state>& state(const multi_mutex& m) { return m.state_; }
  static std::vector<hold> take(multi_hold& h) {
    const auto mine = std::move(h.state_);
    return mine ? std::move(mine->parts) : std::vector<hold>{};
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
