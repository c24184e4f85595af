// What the processes of one machine share: a directory, at which one of them is at a time.
//
//   DIR/lock    flock(2)ed for the length of one operation; the kernel unlocks it when its process dies
//   DIR/state   every hold and every place in a queue; replaced as a whole by rename(2), so nobody reads half of it
#pragma once

#include "engines/kit/resource.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>

namespace file_engine {

namespace kit = tyer::kit;

// [state]
struct state {
  std::string boot;  // of the machine
  std::chrono::nanoseconds base{},
      last{};  // the directory's clock: what it showed at boot, and when it was written last
  std::map<std::string, kit::resource, std::less<>> names = {};

  kit::resource& of(const std::string& name) {
    return names.try_emplace(name, kit::limits{.stored = true}).first->second;
  }
  // After a restart of the machine it continues from the time last written, so it and the tokens, which count its
  // microseconds, never go back.
  kit::store_time time(kit::time_point now) const { return kit::store_time{base + now.time_since_epoch()}; }
};
// [state]

// Numbers as they lie in memory, text and lists with their length before them.
struct writer {
  std::string text;
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      (*this)(value.size());
      if constexpr (std::is_same_v<T, std::string>) {
        text.append(value);
      } else {
        for (const auto& one : value) (*this)(one);
      }
    }
  }
};
struct reader {
  std::string_view text;
  bool whole = true;  // so far
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (!(whole = whole && text.size() >= sizeof value)) return;
      std::memcpy(&value, text.data(), sizeof value);
      text.remove_prefix(sizeof value);
    } else {
      std::size_t size = 0;
      (*this)(size);
      if (!(whole = whole && size <= text.size())) return;
      if constexpr (std::is_same_v<T, std::string>) {
        value = text.substr(0, size);
        text.remove_prefix(size);
      } else {
        value.resize(size);
        for (auto& one : value) (*this)(one);
      }
    }
  }
};
template <class Archive, class Seat>
void all_of(Archive& a, Seat& s) {
  a(s.who), a(s.how), a(s.is), a(s.upgrading), a(s.take), a(s.capacity), a(s.slots), a(s.part), a(s.seen);
  a(s.expires), a(s.ttl), a(s.waiter_ttl), a(s.lock_delay), a(s.owner), a(s.asked), a(s.times_asked);
}

// [visit]
// One operation's turn at the directory, from construction to destruction. read() and write() say what went wrong, if anything.
class visit {
 public:
  explicit visit(const std::string& directory)
      : directory_(directory), lock_(::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660)) {
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) error_ = errno;
  }
  ~visit() { ::close(lock_); }
  visit(const visit&) = delete;

  bool busy() const noexcept { return error_ == EWOULDBLOCK; }  // another process is there: try again
  std::optional<kit::failure> read(state&);
  std::optional<kit::failure> write(const state&, kit::store_time now);
  // [visit]

 private:
  std::optional<kit::failure> no(const std::string& what, int error) const {
    return kit::no(kit::why::not_sent, tyer::errc::unavailable,
                   "file://" + directory_ + ": " + what + ": " + std::strerror(error));
  }

  const std::string directory_;
  const int lock_;
  int error_ = 0;
  std::string text_;  // as it was read
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return std::move(text).str();
}

// False if the text is no state. What was held before the machine started again is over; only floors of tokens stay.
inline bool parse(std::string_view text, state& s) {
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  reader r{text};
  if (!text.empty()) r(s.last), r(s.base), r(s.boot);
  while (r.whole && !r.text.empty()) {
    std::string name;
    std::uint64_t floor = 0;
    std::size_t seats = 0;
    r(name), r(floor), r(seats);
    if (r.whole) s.of(name).put_floor(floor);
    for (kit::seat one; r.whole && seats > 0; --seats) {
      all_of(r, one);
      if (r.whole && s.boot == boot) s.of(name).put(one);
    }
  }
  if (s.boot != boot) s.base = s.last;
  s.boot = boot;
  return r.whole;
}

inline std::optional<kit::failure> visit::read(state& s) {
  if (error_ != 0) return no("the file `lock` cannot be locked (does the directory exist?)", error_);
  text_ = read_file(directory_ + "/state");
  return parse(text_, s) ? std::nullopt : no("the file `state` is not of this engine", EBADMSG);
}

inline std::optional<kit::failure> visit::write(const state& s, kit::store_time now) {
  const auto micros = static_cast<std::uint64_t>(now.time_since_epoch() / std::chrono::microseconds{1});
  writer w;
  w(now.time_since_epoch()), w(s.base), w(s.boot);
  for (const auto& [name, of] : s.names) {
    const auto floor = of.last_part() >= micros ? of.last_part() : 0;  // else the clock is above it
    const auto seats = of.holds().size() + of.queue().size();
    if (floor == 0 && seats == 0) continue;
    w(name), w(floor), w(seats);
    for (const auto& one : of.holds()) all_of(w, one);
    for (const auto& one : of.queue()) all_of(w, one);
  }
  constexpr auto time = sizeof s.last;
  if (text_.size() > time && w.text.compare(time, w.text.npos, text_, time) == 0) return std::nullopt;
  std::ofstream file{directory_ + "/state.new", std::ios::binary | std::ios::trunc};
  file << w.text << std::flush;
  const bool written = file && ::rename((directory_ + "/state.new").c_str(), (directory_ + "/state").c_str()) == 0;
  return written ? std::nullopt : no("the file `state` cannot be written", errno);
}

}  // namespace file_engine
