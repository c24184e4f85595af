// One session of a server as a lease: what it holds, until when, and what its client must say to it. A machine: times in.
//
//   the server ends it     | when it was silent for length(), which is the longest ttl of what it holds, or of what it held last;
//                          | never (0) if it holds nothing and was not used for a while
//   a hold is valid        | for its ttl from the sending of the last request that the session has answered since it was kept
//   a hold is given back   | when nobody has kept it for its ttl, though the session lives
//   all holds are gone     | when the connection is: the server frees them as soon as it notices
//
// The length is never less than the ttl of a hold, so the server ends nothing that is still valid. It is told before what needs it, on
// the same connection, so it is in force when that is carried out.
//
// Thread safety: none.
#pragma once

#include "core/id.hpp"
#include "engines/kit/calls.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tyer::sql {

using core::id;
using kit::milliseconds;
using kit::time_point;

class held_session {
 public:
  struct hold {
    std::string name;
    std::uint64_t part = 0;
    milliseconds ttl{};  // as its row says
    time_point until{};  // unless it is kept
  };

  // A new session. What another one held is told: it is gone.
  std::vector<id> begin();

  // --- its length

  // What must be told before a hold of this ttl is taken or kept.
  std::optional<milliseconds> must_be_told(milliseconds ttl) const;
  void told(milliseconds length, time_point);
  // Perhaps it was not told: an error came back. It is told again before anything relies on it.
  void doubt() noexcept { is_sure_ = false; }
  bool lasts(milliseconds ttl) const noexcept { return is_sure_ && length_ >= ttl; }
  milliseconds length() const noexcept { return length_; }
  // When a session that holds nothing is to be told that it need not end: until then it would, for want of anything to say.
  time_point relax_due() const noexcept;

  // --- what was said, and answered

  // Of a lock that is being taken or given back nobody knows whether the session has it, and it could have it twice.
  void begins_to_take(const std::string& name) { taking_.insert(name); }
  void begins_to_give_back(const std::string& name) { giving_back_.insert(name); }
  void settled(const std::string& name) {
    taking_.erase(name);
    giving_back_.erase(name);
  }
  bool is_unsettled(const std::string& name) const { return taking_.contains(name) || giving_back_.contains(name); }
  void said(time_point sent) noexcept { said_ = sent; }
  void answered(time_point sent) noexcept { answered_ = std::max(answered_, sent); }
  // Whether it is known to have lived at that time or later, with the length it has.
  bool lived_at(time_point t) const noexcept { return is_sure_ && answered_ >= t && answered_ >= as_long_since_; }
  time_point answered() const noexcept { return answered_; }

  // --- what it holds

  void add(const id&, hold);
  const hold* find(const id&) const;
  const hold* find(const id&, const std::string& name) const;  // by that name
  bool has(const std::string& name) const { return by_name_.contains(name); }
  void keep(const id&, milliseconds ttl, time_point until);
  std::optional<hold> remove(const id&);
  time_point next_end() const noexcept;
  std::vector<id> over(time_point now) const;
  std::size_t size() const noexcept { return holds_.size(); }

 private:
  std::unordered_map<id, hold, core::id_hash> holds_;
  std::map<std::string, id> by_name_;
  std::set<std::pair<time_point, id>> ends_;
  std::set<std::string> taking_, giving_back_;
  milliseconds length_{};
  bool is_sure_ = true;  // of the length
  time_point as_long_since_ = time_point::min(), said_ = time_point::min(), answered_ = time_point::min();
};

}  // namespace tyer::sql
