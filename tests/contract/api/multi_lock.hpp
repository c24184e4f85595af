// A multi_mutex in the shape of the other locks, so that it is asked the same questions: the name and two more, which
// come behind it in the canonical order.
#pragma once

#include <tyer/multi_mutex.hpp>

#include <chrono>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contract {

inline std::vector<std::string> three_names(std::string_view name) {
  constexpr std::size_t longest = 1024;
  std::vector<std::string> all{std::string{name}};
  for (const char* tail : {"/+2", "/+3"}) {
    if (name.size() + 3 <= longest) all.push_back(std::string{name} + tail);
  }
  return all;
}

// A multi_hold with the members of a hold; token() is that of the first name.
class multi_grip {
 public:
  multi_grip() = default;
  multi_grip(tyer::multi_hold h, std::string name) : all_(std::move(h)), name_(std::move(name)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(all_); }
  std::uint64_t token() const { return all_.token(name_); }
  tyer::fence_pass fence() const { return all_.fence(name_); }
  bool valid() const noexcept { return all_.valid(); }
  tyer::lease_clock::time_point valid_until() const noexcept { return all_.valid_until(); }
  tyer::lease_clock::duration remaining() const noexcept { return all_.remaining(); }
  std::stop_token lost() const noexcept { return all_.lost(); }
  std::string_view name() const noexcept { return all_ ? std::string_view{name_} : ""; }
  tyer::release_outcome release() { return all_.release(); }
  tyer::release_outcome release(tyer::failure& why) noexcept { return all_.release(why); }

 private:
  tyer::multi_hold all_;
  std::string name_;
};

inline bool took(const multi_grip& h) { return static_cast<bool>(h); }

class multi_lock {
 public:
  multi_lock(const tyer::client& c, std::string_view name, tyer::lock_options o = {},
             std::source_location where = std::source_location::current())
      : name_(name), all_(c, three_names(name), o, where) {}

  std::string_view name() const { return name_; }

  multi_grip acquire(std::stop_token stop = {}) const { return grip(all_.acquire(std::move(stop))); }
  multi_grip acquire(tyer::failure& why, std::stop_token stop = {}) const noexcept {
    return grip(all_.acquire(why, std::move(stop)));
  }
  multi_grip try_acquire() const { return grip(all_.try_acquire()); }
  multi_grip try_acquire(tyer::failure& why) const noexcept { return grip(all_.try_acquire(why)); }
  multi_grip try_acquire_for(std::chrono::nanoseconds d, std::stop_token stop = {}) const {
    return grip(all_.try_acquire_for(d, std::move(stop)));
  }
  multi_grip try_acquire_for(tyer::failure& why, std::chrono::nanoseconds d, std::stop_token stop = {}) const noexcept {
    return grip(all_.try_acquire_for(why, d, std::move(stop)));
  }
  template <class Clock, class Duration>
  multi_grip try_acquire_until(const std::chrono::time_point<Clock, Duration>& limit, std::stop_token stop = {}) const {
    return grip(all_.try_acquire_until(limit, std::move(stop)));
  }

 private:
  multi_grip grip(tyer::multi_hold h) const { return {std::move(h), name_}; }

  std::string name_;
  tyer::multi_mutex all_;
};

// Its standard face.
struct guarded_multi_mutex : tyer::multi_mutex {
  guarded_multi_mutex(const tyer::client& c, std::string_view name, tyer::lock_options o = {},
                      std::source_location where = std::source_location::current())
      : multi_mutex(c, three_names(name), o, where) {}
};

}  // namespace contract
