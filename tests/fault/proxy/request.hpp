// What a request is for; how requests to Redis are told apart.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace fault {

// keep is for holds, wait for places in the queue. Of etcd (grpc.hpp) keep is for both; lease grants one.
enum class kind : std::uint8_t { other, acquire, claim, keep, wait, release, convert, lease };
inline constexpr std::array kind_names{"other", "acquire", "claim", "keep", "wait", "release", "convert", "lease"};
kind kind_named(std::string_view name);  // other, if there is none of that name

struct request {
  kind what = kind::other;
  bool answered = true;  // false: in RESP3 its answer comes as a push, outside the order of replies
};

// Tells requests apart by the script they run.
//
// Rules are lines `sha HEX KIND` and `text PIECE KIND`: a script is known by its digest, or learned when its text goes
// by in EVAL or SCRIPT LOAD and contains the piece. A claim is an acquire for an id that was seen in an acquire before;
// the id is the first 16 bytes of the first argument after the keys.
class request_reader {
 public:
  void add_rules(std::string_view lines);  // throws std::runtime_error

  request read(const std::vector<std::string_view>& words);

  void count(kind what) { ++counts_[static_cast<std::size_t>(what)]; }  // of one that somebody else has read
  const std::array<std::uint64_t, kind_names.size()>& counts() const { return counts_; }

 private:
  kind kind_of(const std::string& command, const std::vector<std::string_view>& words);
  kind learn(std::string_view script);
  bool seen_before(const std::vector<std::string_view>& words);

  std::unordered_map<std::string, kind> by_sha_;
  std::vector<std::pair<std::string, kind>> by_text_;
  std::array<std::uint64_t, kind_names.size()> counts_{};
  std::unordered_set<std::string> ids_, older_ids_;  // two generations: old ids are forgotten
};

}  // namespace fault
