// A caller's way to a hold and back: blocking, or with a callback.
#pragma once

#include "runtime/hold_state.hpp"
#include "runtime/house.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <vector>

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

// When this patience ends.
lease::time_point limit_of(const house& h, const patience& p);

std::shared_ptr<runtime::wish> make_wish(const house& h, std::shared_ptr<const spec> what, const patience& p,
                                         const std::source_location& where);

acquired acquire_blocking(house& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where);

struct released {
  tyer::failure error;
  release_outcome outcome = release_outcome::unknown;
};
released release_blocking(house& h, hold_ptr held);
// Without an answer, and whatever goes wrong: without memory it is given back instead of being renewed the next time.
void give_back_quietly(house& h, hold_ptr held) noexcept;

struct converted {
  tyer::failure error;
  bool changed = false;
};
std::shared_ptr<runtime::change> make_change(const house& h, hold_ptr held, std::shared_ptr<const spec> to,
                                             const patience& p);
converted convert_blocking(house& h, hold_ptr held, std::shared_ptr<const spec> to, const patience& p,
                           std::stop_token stop);

struct confirmed {
  tyer::failure error;
  bool stands = false;
};
confirmed confirm_blocking(house& h, hold_ptr held);

template <class T>
struct told {
  tyer::failure error;
  T value{};
};
told<std::uint32_t> ask_blocking(house& h, std::string name, std::string reason);
told<engine::page> show_blocking(house& h, std::string name);
told<engine::page> list_blocking(house& h, std::string prefix, std::string cursor, std::uint32_t limit);
told<core::fate> evict_blocking(house& h, engine::entry which, std::string reason);
told<std::vector<engine::finding>> diagnose_blocking(house& h);

}  // namespace tyer::primitives
