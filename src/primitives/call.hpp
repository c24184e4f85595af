// Acquire, release and the other calls of a caller: blocking, or with a callback.
#pragma once

#include "runtime/client_runtime.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"
#include "runtime/query.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace tyer::primitives {

using runtime::client_runtime;
using runtime::hold_ptr;
using runtime::spec;

// How long to try: once, for a limited time, or until it succeeds.
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

// Why no call can be made: forked, closed, or a thread of our own that must not block.
tyer::failure unusable(const client_runtime& h, bool blocking) noexcept;

// When this patience ends.
lease::time_point limit_of(const client_runtime& h, const patience& p);

std::shared_ptr<runtime::acquisition> make_acquisition(const client_runtime& h, std::shared_ptr<const spec> what,
                                                       const patience& p, const std::source_location& where);

acquired acquire_blocking(client_runtime& h, std::shared_ptr<const spec> what, const patience& p, std::stop_token stop,
                          const std::source_location& where);

struct released {
  tyer::failure error;
  release_outcome outcome = release_outcome::unknown;
};
released release_blocking(client_runtime& h, hold_ptr held);
// One of several holds, perhaps of different clients: all requests are sent before the first answer is waited for.
struct held_at {
  std::shared_ptr<client_runtime> home;  // null: the client is gone
  hold_ptr held;
};
std::vector<released> release_all_blocking(std::span<const held_at> all);
// Does not wait for an answer, and never fails: when memory is exhausted, the hold is released instead of its next renewal.
void give_back_quietly(client_runtime& h, hold_ptr held) noexcept;

struct converted {
  tyer::failure error;
  bool changed = false;
};
std::shared_ptr<runtime::change> make_change(const client_runtime& h, hold_ptr held, std::shared_ptr<const spec> to,
                                             const patience& p);
converted convert_blocking(client_runtime& h, hold_ptr held, std::shared_ptr<const spec> to, const patience& p,
                           std::stop_token stop);

struct confirmed {
  tyer::failure error;
  bool stands = false;
};
confirmed confirm_blocking(client_runtime& h, hold_ptr held);
std::vector<confirmed> confirm_all_blocking(std::span<const held_at> all);

template <class T>
struct told {
  tyer::failure error;
  T value{};
};
// Asks the engine and waits for the answer; `in_words` converts a failure. T as in runtime::queries.
using in_words = tyer::failure (*)(engine::failure) noexcept;
template <class T>
told<T> ask_engine(client_runtime& h, runtime::query<T> what, in_words of_failure = runtime::to_public);

inline told<std::uint32_t> ask_blocking(client_runtime& h, std::string name, std::string reason) {
  return ask_engine(h, runtime::queries::ask(std::move(name), std::move(reason)), runtime::to_public_of_deed);
}
inline told<engine::page> show_blocking(client_runtime& h, std::string name) {
  return ask_engine(h, runtime::queries::show(std::move(name)));
}
inline told<engine::page> list_blocking(client_runtime& h, std::string prefix, std::string cursor,
                                        std::uint32_t limit) {
  return ask_engine(h, runtime::queries::list(std::move(prefix), std::move(cursor), limit));
}
inline told<core::fate> evict_blocking(client_runtime& h, engine::entry which, std::string reason) {
  return ask_engine(h, runtime::queries::evict(std::move(which), std::move(reason)), runtime::to_public_of_deed);
}
inline told<std::vector<engine::finding>> diagnose_blocking(client_runtime& h) {
  return ask_engine(h, runtime::queries::diagnose());
}

}  // namespace tyer::primitives
