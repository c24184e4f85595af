#include "recipes/waiting.hpp"

#include <tyer/mutex.hpp>
#include <tyer/recipes/once_per.hpp>

#include <algorithm>
#include <source_location>

namespace tyer {
inline namespace v1 {
namespace recipes {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

constexpr const char* note = "remembers when the job was started; nobody is at work under it";
constexpr std::string_view ending = ":once";

// The longest time from the request for the period, when its time may begin to run, to the start of the job.
milliseconds time_to_start(milliseconds period) { return std::clamp<milliseconds>(period / 10, 1s, 10s); }

}  // namespace

once_per::once_per(client_source open, std::string_view name, milliseconds period)
    : open_(std::move(open)), name_(name), period_(period) {
  detail::require(open_ != nullptr, "a once_per needs a way to make a client");
  detail::require(period >= period_min && period <= period_max, "period must be from 1 s to 23 h");
}

once_per::once_per(std::string_view uri, std::string_view name, milliseconds period, client_options options)
    : once_per([uri = std::string{uri}, options = std::move(options)] { return client{uri, options}; }, name, period) {}

std::optional<lease_clock::time_point> once_per::try_take() const {
  // A client that is closed leaves a lock with a min_hold taken for that time, without renewal. If it dies before, the lock
  // stays for the ttl, which is the same.
  client memory = open_();
  const auto taken_for = period_ + time_to_start(period_);
  const mutex started{memory, memory_of(name_), {.ttl = taken_for, .min_hold = taken_for, .note = note}};
  const auto asked = lease_clock::now();
  const hold mark = started.try_acquire(std::source_location{});
  if (!mark) return {};
  memory.close();
  return asked + time_to_start(period_);
}

milliseconds once_per::remaining(const client& asks) const {
  milliseconds left{0};
  for (const lock_entry& e : admin{asks}.show(memory_of(name_))) {
    if (!e.waiting) left = std::max(left, e.remaining);
  }
  return left;
}

std::string once_per::memory_of(std::string_view name) { return std::string{name}.append(ending); }

// The layouts of others, as Redisson's, have no place for notes, and none for a host: there the name of a lock of Tyer is all
// there is to go by.
bool once_per::is_memory(const lock_entry& holder) {
  const auto& by = holder.owner;
  if (by.note == note) return true;
  return holder.id && !holder.waiting && by.host.empty() && by.note.empty() && holder.name.ends_with(ending);
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
