// Which name is locked by which primitive, and how often each of them has its turn.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fault {

enum class primitive : std::uint8_t { mutex, shared, semaphore, several, recursive };

// The names of one primitive: the first is the hot one.
struct part {
  primitive what;
  int percent;  // of the turns
  std::uint16_t first, count;
};

inline constexpr std::uint32_t semaphore_permits = 3;
inline constexpr std::uint16_t several_at_once = 3;

class plan {
 public:
  // mutex: all names are mutexes; modes: all primitives beside each other.
  plan(std::string_view mix, std::uint16_t names) {
    if (mix == "modes") {
      parts_ = {{primitive::mutex, 25, 0, 5},
                {primitive::shared, 33, 5, 4},
                {primitive::semaphore, 20, 9, 3},
                {primitive::several, 12, 12, 6},
                {primitive::recursive, 10, 18, 3}};
    } else if (mix == "mutex") {
      parts_ = {{primitive::mutex, 100, 0, names}};
    } else {
      throw std::runtime_error{"an unknown mix"};
    }
  }

  // What the engine cannot do is left out; its turns go to the last that is left.
  void without(primitive what) {
    std::erase_if(parts_, [&](const part& p) { return p.what == what; });
  }

  const std::vector<part>& parts() const { return parts_; }

  const part& part_of(std::int64_t percent) const {
    for (const part& p : parts_) {
      if ((percent -= p.percent) < 0) return p;
    }
    return parts_.back();
  }

  bool is_hot(std::uint16_t name) const {
    for (const part& p : parts_) {
      if (p.first == name) return true;
    }
    return false;
  }

 private:
  std::vector<part> parts_;
};

// Names beside all of these that somebody keeps for as long as it can, one way for each. They begin with this number.
inline constexpr std::uint16_t kept_first = 24;
enum class kept_way : std::uint8_t { exclusive, shared, permits, delayed };
inline constexpr std::uint16_t kept_ways = 4;

inline bool is_kept(std::uint16_t name) { return name >= kept_first; }
// Nobody stands in a queue for the second half of them: whoever comes finds what the server says of the holder alone.
inline bool is_queued_for(std::uint16_t name) { return !is_kept(name) || (name - kept_first) / kept_ways % 2 == 0; }
inline kept_way kept_way_of(std::uint16_t name) { return static_cast<kept_way>((name - kept_first) % kept_ways); }

// The proxy knows a name by its number, too.
inline std::string name_of(std::uint16_t number) { return "fault/" + std::to_string(number); }

}  // namespace fault
