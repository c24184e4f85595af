// Static probes (USDT) for bpftrace, SystemTap and perf, if <sys/sdt.h> was there when this was compiled. A probe is one `nop`
// until somebody attaches to it. The provider is `tyer`:
//
//   probe     | arguments
//   ----------+---------------------------------------------------------------------------------------------------
//   acquire   | name, its bytes, how it ended (acquire_end), ns that it took
//   release   | name, its bytes, ns that it was held
//   lost      | name, its bytes, ns that it was held, why (loss_reason)
//   renewal   | ns that a renewal left later than planned
//
// They fire where the same is counted, on the thread that drives the client.
#pragma once

#include <tyer/stats.hpp>

#include <chrono>
#include <string>

#if __has_include(<sys/sdt.h>) && !defined(TYER_NO_PROBES)
#include <sys/sdt.h>
#define TYER_PROBE(count, ...) STAP_PROBE##count(tyer, __VA_ARGS__)
#else
#define TYER_PROBE(count, ...) static_cast<void>(0)
#endif

namespace tyer::runtime::probes {

using std::chrono::nanoseconds;

inline void acquire([[maybe_unused]] const std::string& name, [[maybe_unused]] acquire_end how,
                    [[maybe_unused]] nanoseconds took) noexcept {
  TYER_PROBE(4, acquire, name.data(), name.size(), static_cast<int>(how), took.count());
}

inline void release([[maybe_unused]] const std::string& name, [[maybe_unused]] nanoseconds held) noexcept {
  TYER_PROBE(3, release, name.data(), name.size(), held.count());
}

inline void lost([[maybe_unused]] const std::string& name, [[maybe_unused]] nanoseconds held,
                 [[maybe_unused]] loss_reason why) noexcept {
  TYER_PROBE(4, lost, name.data(), name.size(), held.count(), static_cast<int>(why));
}

inline void renewal([[maybe_unused]] nanoseconds late) noexcept { TYER_PROBE(1, renewal, late.count()); }

}  // namespace tyer::runtime::probes

#undef TYER_PROBE
