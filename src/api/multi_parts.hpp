// The internals of a multi_mutex and of its hold, for acquire and release.
#pragma once

#include "api/access.hpp"
#include "api/stop_relay.hpp"
#include "primitives/multi.hpp"
#include "runtime/fork.hpp"

#include <tyer/multi_mutex.hpp>

#include <memory>
#include <mutex>
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
    for (const hold& h : parts) lost_.listen(h.lost());
  }

  std::stop_token lost() const noexcept { return lost_.first(); }
  // Made when somebody asks for it, as for a single hold.
  std::stop_token revoked() const {
    const std::lock_guard lock{mutex_};
    if (!revoked_) {
      auto made = std::make_unique<stop_relay>();
      for (const hold& h : parts) made->listen(h.revoked());
      revoked_ = std::move(made);
    }
    return revoked_->first();
  }

  const runtime::birth birth;
  std::vector<hold> parts;

 private:
  stop_relay lost_;
  mutable std::mutex mutex_;  // protects what follows
  mutable std::unique_ptr<stop_relay> revoked_;
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
