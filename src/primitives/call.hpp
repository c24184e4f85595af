// A caller's way to a hold and back: blocking, or with a callback.
#pragma once

#include "runtime/hold_state.hpp"
#include "runtime/house.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>

namespace tyer::primitives {

using runtime::hold_ptr;
using runtime::house;
using runtime::spec;

// How long to try: once, for some time, or until it is there.
struct patience {
  bool waits = true;
  std::optional<std::chrono::nanoseconds> at_most;

  static patience once() { return {false, {}}; }
  static patience for_ever() { return {true, {}}; }
  static patience within(std::chrono::nanoseconds d) {
    return d <= std::chrono::nanoseconds::zero() ? once() : patience{true, d};
  }
};

struct acquired {
  tyer::failure error;
  hold_ptr hold;
};

// Why no call can be made at all: forked, closed, or a thread of our own that must not block.
tyer::failure unusable(const house& h, bool blocking) noexcept;

std::shared_ptr<runtime::wish> make_wish(const house& h, std::shared_ptr<const spec> what, const patience& p,
                                         const std::source_location& where);

acquired acquire_blocking(house& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where);

struct released {
  tyer::failure error;
  release_outcome outcome = release_outcome::unknown;
};
released release_blocking(house& h, hold_ptr held);

}  // namespace tyer::primitives
