// Tells a late answer of the library from a machine that did not let us run: a thread that only sleeps in short steps,
// asks nothing of the library, and remembers how late it was woken, and when a processor was taken away.
#pragma once

#include "contract/api/fixture.hpp"
#include "stolen.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace contract {

class pulse {
 public:
  using clock = tyer::lease_clock;

  pulse() : thread_([this](const std::stop_token& end) { beat(end); }) {}

  // For how long of this time it should have run and did not.
  clock::duration late(clock::time_point from, clock::time_point to) const {
    const std::lock_guard guard{mutex_};
    look_at_stolen_time(clock::now());
    auto all = missed_;
    // It may be asleep for too long at this very moment.
    const auto now = clock::now();
    if (now - due_ > tolerated) all.push_back({due_, now});
    std::ranges::sort(all, {}, &span::begin);
    clock::duration sum{};
    for (const auto& one : all) {  // two may overlap
      sum += common(one, {from, to});
      from = std::max(from, one.end);
    }
    return sum;
  }

 private:
  struct span {
    clock::time_point begin, end;
  };
  static constexpr auto step = 2ms;
  static constexpr auto tolerated = 10ms;  // how any machine is
  static constexpr auto look_every = 50ms;

  static clock::duration common(const span& a, const span& b) {
    return std::max(clock::duration{}, std::min(a.end, b.end) - std::max(a.begin, b.begin));
  }

  void beat(const std::stop_token& end) {
    while (!end.stop_requested()) {
      {
        const std::lock_guard guard{mutex_};
        due_ = clock::now() + step;
      }
      std::this_thread::sleep_for(step);
      const std::lock_guard guard{mutex_};
      const auto now = clock::now();
      if (now - due_ > tolerated) missed_.push_back({due_, now});
      if (now - looked_ > look_every) look_at_stolen_time(now);
    }
  }

  // It is counted when the processor is back: the time itself may lie before the last look.
  void look_at_stolen_time(clock::time_point now) const {
    if (const auto away = stolen_.look(); away > tolerated) missed_.push_back({std::max(began_, looked_ - away), now});
    looked_ = now;
  }

  mutable std::mutex mutex_;
  mutable machine::stolen_time stolen_;
  const clock::time_point began_ = clock::now();
  mutable clock::time_point looked_ = began_;
  clock::time_point due_ = clock::now() + step;
  mutable std::vector<span> missed_;
  std::jthread thread_;
};

// Whether a hold was told of its loss before its validity was over.
class loss_witness {
 public:
  using clock = tyer::lease_clock;

  explicit loss_witness(const auto& h)
      : callback_(h.lost(), [this, &h] {
          const auto at = clock::now();
          const std::lock_guard guard{mutex_};
          told_ = at;
          end_ = h.valid_until();
        }) {}

  // Late by no more than twice what the machine was, from the moment it was to be told (a twentieth of the ttl before the
  // end): twice, since two threads have to be let run, the one that watches the time and the one that is told.
  ::testing::AssertionResult in_time(const pulse& machine, clock::duration ttl) const {
    // Callbacks run a little after the stop was requested.
    if (!eventually([this] { return told().has_value(); }))
      return ::testing::AssertionFailure() << "lost() was not called";
    const std::lock_guard guard{mutex_};
    const auto excused = 2 * machine.late(end_ - ttl / 20, *told_);
    if (*told_ < end_ + excused) return ::testing::AssertionSuccess();
    const auto ms = [](clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
    return ::testing::AssertionFailure() << "told " << ms(*told_ - end_)
                                         << " ms after it was over; excused by the machine's own lateness: "
                                         << ms(excused);
  }

 private:
  std::optional<clock::time_point> told() const {
    const std::lock_guard guard{mutex_};
    return told_;
  }

  mutable std::mutex mutex_;
  std::optional<clock::time_point> told_;
  clock::time_point end_;
  std::stop_callback<std::function<void()>> callback_;
};

}  // namespace contract
