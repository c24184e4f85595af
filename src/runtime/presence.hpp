// Whether the engine is there, and as which server: what `up` and `down` mean to one who watches.
//
//   up after    | and a server is another | is news
//   ------------+-------------------------+-----------------------------------------------------------------
//   nothing     | –                       | it is there
//   a down      | no                      | it is there again
//   a down, up  | yes                     | it is there as another server
//   up          | no                      | none: an engine of several servers says `up` for each of them
//
// The id of an engine of several servers lists theirs, in any order, with `-` for one that is away. One of them is another if an id
// is new and one is missing that no `-` stands for: a cluster that only grows, shrinks or moves its slots has no other servers. An
// outage lasts from the first `down` to the first `up`: `down` does not say of which it is.
#pragma once

#include "lease/terms.hpp"

#include <algorithm>
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
    presence::news what = news::none;
    lease::duration away{};  // for how long it was, if it was
    bool back = false;       // it was there before, and away since
  };

  change up(std::string_view ids, lease::time_point now) noexcept {
    const bool first = !std::exchange(met_, true);
    const bool other = replace(ids);
    const auto since = std::exchange(away_since_, std::nullopt);
    const auto what = other && !first ? news::another : first || since ? news::there : news::none;
    return {what, since ? now - *since : lease::duration::zero(), since && !first};
  }
  void down(lease::time_point now) noexcept {
    if (!away_since_) away_since_ = now;
  }

 private:
  static constexpr std::size_t missing_max = 256;
  using all = std::vector<std::size_t>;  // hashes of ids

  static bool has(const all& some, std::size_t one) { return std::ranges::find(some, one) != some.end(); }

  // True if one of them is another than before. Servers that may only be away stay known.
  bool replace(std::string_view ids) noexcept try {
    all now;
    std::size_t away = 0;
    for (bool more = true; more;) {
      const auto comma = ids.find(',');
      const auto id = ids.substr(0, comma);
      if (id == "-")
        ++away;
      else
        now.push_back(std::hash<std::string_view>{}(id));
      more = comma != ids.npos;
      if (more) ids.remove_prefix(comma + 1);
    }
    now.reserve(now.size() + servers_.size());
    const bool is_new = std::ranges::any_of(now, [&](auto one) { return !has(servers_, one); });
    std::erase_if(servers_, [&](auto one) { return has(now, one); });  // leaves those that are missing
    const bool other = is_new && servers_.size() > away + gone_;
    servers_.resize(away > 0 ? std::min(servers_.size(), missing_max) : 0);
    gone_ = servers_.size() > away ? servers_.size() - away : 0;
    now.insert(now.end(), servers_.begin(), servers_.end());
    servers_ = std::move(now);
    return other;
  } catch (const std::bad_alloc&) {  // what is known is compared with the next
    return false;
  }

  all servers_;           // that are there, and those that are missing while one of them may be away
  std::size_t gone_ = 0;  // so many of the missing are not away
  bool met_ = false;
  std::optional<lease::time_point> away_since_;
};

}  // namespace tyer::runtime
