// Converts the engine's failures to those of the public API.
#pragma once

#include "engine/engine.hpp"
#include "lease/release.hpp"
#include "lease/terms.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace tyer::runtime {

// The engine has done a part of the request and refused the rest: the part is undone, and a retry is useless.
inline bool refused_half_way(const engine::failure& f) noexcept {
  return f.kind == core::why::unknown && f.code == errc::refused;
}

// For a request that changes nothing, or that is undone if its outcome is unknown: then the failure is an outage.
inline tyer::failure to_public(engine::failure f) noexcept {
  const auto code = [&] {
    if (refused_half_way(f)) return errc::refused;
    switch (f.kind) {
      case core::why::refused: return f.code == errc::permits_differ ? errc::permits_differ : errc::refused;
      case core::why::name_conflict: return errc::name_conflict;
      case core::why::unsupported: return errc::unsupported;
      case core::why::over_limit: return errc::over_limit;
      case core::why::not_sent:
      case core::why::unknown: break;
    }
    return errc::unavailable;
  }();
  try {
    if (f.words.empty() && f.code) f.words = f.code.message();
  } catch (const std::bad_alloc&) {  // then without a message
  }
  return {code, std::move(f.words)};
}

// For a request whose effect stays if it was executed.
inline tyer::failure to_public_of_deed(engine::failure f) noexcept {
  const bool perhaps_done = f.kind == core::why::unknown && !refused_half_way(f);
  auto told = to_public(std::move(f));
  if (perhaps_done) told.code = make_error_code(errc::outcome_unknown);
  return told;
}

inline tyer::failure said(const engine::failure& f) noexcept try {
  return to_public(f);
} catch (const std::bad_alloc&) {
  return to_public({f.kind, f.code, {}});
}

// A copy for another caller; without the message if memory is exhausted.
inline tyer::failure same(const tyer::failure& f) noexcept try { return f; } catch (const std::bad_alloc&) {
  return f.code;
}

inline tyer::failure no_answer_in_time() noexcept try {
  return {errc::unavailable, "the engine did not answer within the time that the caller gave it"};
} catch (const std::bad_alloc&) {
  return errc::unavailable;
}

// For the caller's own limit, or else for request_timeout.
inline tyer::failure no_answer_within(lease::duration limit, bool own) noexcept try {
  using namespace std::chrono;
  const auto text = limit < 1ms ? std::to_string(ceil<microseconds>(limit).count()) + " us"
                                : std::to_string(round<milliseconds>(limit).count()) + " ms";
  const std::string which = own ? "the caller's own limit of " : "the request_timeout of ";
  return {errc::unavailable, "no answer of the engine within " + which + text +
                                 "; allow more time if a request takes longer than that, or check the engine"};
} catch (const std::bad_alloc&) {
  return errc::unavailable;
}

inline tyer::failure too_many_before_it() noexcept try {
  return {errc::unavailable, "earlier requests are still unanswered, and no more are sent until the engine answers"};
} catch (const std::bad_alloc&) {
  return errc::unavailable;
}

inline tyer::failure on_a_thread_of_tyer() noexcept try {
  return {errc::would_deadlock, "this is one of Tyer's own threads, which must not block: use the asynchronous form"};
} catch (const std::bad_alloc&) {
  return errc::would_deadlock;
}

// Allocates nothing.
inline tyer::failure no_memory() noexcept { return std::make_error_code(std::errc::not_enough_memory); }

inline release_outcome to_public(lease::release::outcome o) noexcept {
  switch (o) {
    case lease::release::outcome::released: return release_outcome::released;
    case lease::release::outcome::already_gone: return release_outcome::already_gone;
    case lease::release::outcome::unknown: break;
  }
  return release_outcome::unknown;
}

}  // namespace tyer::runtime
