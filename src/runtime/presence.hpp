// Whether the engine is there, and as which server: what `up` and `down` mean to one who watches.
//
//   up after    | and a server is another | is news
//   ------------+-------------------------+-----------------------------------------------------------------
//   nothing     | –                       | it is there
//   a down      | no                      | it is there again
//   a down, up  | yes                     | it is there as another server
//   up          | no                      | none: an engine of several servers says `up` for each of them
//
// The id of an engine of several servers lists theirs, with `-` for one that is away: each is compared with the one that was
// last seen in its place. An outage lasts from the first `down` to the first `up`: `down` does not say of which it is.
#pragma once

#include "lease/terms.hpp"

#include <cstddef>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::runtime {

class presence {
 public:
  enum class news { none, there, another };
  struct change {
    presence::news what;
    lease::duration away{};  // for how long it was, if it was
  };

  change up(std::string_view id, lease::time_point now) noexcept {
    const bool first = servers_.empty();
    const bool other = replace(id) && !first;
    const auto since = std::exchange(away_since_, std::nullopt);
    const auto away = since ? now - *since : lease::duration::zero();
    if (other) return {news::another, away};
    return {first || since ? news::there : news::none, away};
  }
  void down(lease::time_point now) noexcept {
    if (!away_since_) away_since_ = now;
  }

 private:
  static constexpr std::size_t nobody = 0;

  // True if one of them is another than before.
  bool replace(std::string_view ids) noexcept {
    std::size_t place = 0;
    bool other = false;
    for (bool more = true; more; ++place) {
      const auto comma = ids.find(',');
      other = put(place, ids.substr(0, comma)) || other;
      more = comma != ids.npos;
      if (more) ids.remove_prefix(comma + 1);
    }
    if (place >= servers_.size()) return other;
    servers_.resize(place);
    return true;
  }
  bool put(std::size_t place, std::string_view id) noexcept {
    const auto now = id == "-" ? nobody : std::hash<std::string_view>{}(id);
    if (place < servers_.size()) {
      if (now == nobody || servers_[place] == now) return false;
      return std::exchange(servers_[place], now) != nobody;
    }
    try {
      servers_.push_back(now);
    } catch (const std::bad_alloc&) {  // one less is compared
    }
    return true;
  }

  std::vector<std::size_t> servers_;  // hashes of their ids
  std::optional<lease::time_point> away_since_;
};

}  // namespace tyer::runtime
