#include "run/once.hpp"

#include "base/session.hpp"

#include <tyer/mutex.hpp>

#include <algorithm>
#include <source_location>

namespace cli {

using namespace std::chrono_literals;

namespace {

constexpr const char* label = "tyer run --once-per";
constexpr const char* note = "remembers when the job was started; nobody is at work under it";

// Between asking for the period, when its time may begin to run, and the start of the job.
std::chrono::milliseconds time_to_start(std::chrono::milliseconds period) {
  return std::clamp<std::chrono::milliseconds>(period / 10, 1s, 10s);
}

}  // namespace

std::string once_name(const std::string& lock) { return lock + ":once"; }

bool is_period(const tyer::lock_entry& holder) { return holder.owner.label == label && holder.owner.note == note; }

std::optional<tyer::lease_clock::time_point> take_period(session& s, const std::string& lock,
                                                         std::chrono::milliseconds period) {
  // A client of its own: closed at once, it leaves what has a min_hold taken. Nobody renews it, so how long the job takes or
  // when its keeper dies changes nothing. One that dies before it is closed leaves it for the ttl, which is the same.
  tyer::client memory = s.open({.label = label});
  const auto taken_for = period + time_to_start(period);
  const tyer::mutex started{memory, once_name(lock), {.ttl = taken_for, .min_hold = taken_for, .note = note}};
  const auto asked = tyer::lease_clock::now();
  const tyer::hold mark = started.try_acquire(std::source_location{});
  if (!mark) return {};
  memory.close();
  return asked + time_to_start(period);
}

}  // namespace cli
