// A simulated server for settle: one name in tables, as the SQL engines will have it. A row with version and joins, the places of
// the queue, and the sessions that holds may live by. Each call is one statement or transaction: it happens at once.
//
// It is also the judge of the order: whoever is granted something must not be before somebody who came earlier.
#pragma once

#include "engines/kit/settle.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tyer::kit {

class sim_table {
 public:
  struct setting {
    std::size_t head = 2;  // how many places read_head reads
    std::size_t turns = 4;
    bool ignores_version = false;  // planted bugs
    bool joins_without_count = false;
    bool takes_without_killing = false;
    bool attach_keeps_version = false;
    bool take_ignores_crowd = false;
  };
  explicit sim_table(const setting& s) : setting_(s) {}

  store_time now{std::chrono::seconds{1'000'000}};
  std::vector<std::string> wrong;  // what the judge has seen
  std::uint64_t grants = 0, conflicts = 0, whole_reads = 0, kills = 0;

  // TAKE: exclusive, if nobody holds it and nobody queues.
  struct taken {
    bool done = false;
    std::uint64_t part = 0;
    std::optional<view> instead;
  };
  taken take(const request& r) {
    const auto over = [&](const seat& h) {
      return h.who != r.what.who && h.lease == 0 && h.expires + h.lock_delay <= now;
    };
    if (!std::ranges::all_of(holds_, over) || (crowd_ && !setting_.take_ignores_crowd)) return {.instead = read(false)};
    holds_.clear();
    judge_new(r.what.who);
    ++version_;
    floor_ = std::max({floor_ + 1, r.seen + 1, static_cast<std::uint64_t>(now.time_since_epoch().count() / 1000)});
    holds_.push_back(
        {.who = r.what.who, .part = floor_, .expires = now + r.ttl, .ttl = r.ttl, .waiter_ttl = r.waiter_ttl});
    holds_.back().created = ++rows_;
    ++grants;
    return {true, floor_, {}};
  }

  view read(bool all, const std::optional<id>& joined = {}) {
    whole_reads += all;
    limits l;
    l.stored = true;
    l.turns = setting_.turns;
    view v{resource{l}, now, version_, joins_};
    v.name.put_floor(floor_);
    for (const seat& h : holds_) v.name.put(as_of_its_session(h));
    const auto head = all ? places_.size() : std::min(setting_.head, places_.size());
    for (std::size_t i = 0; i < head; ++i) v.name.put(places_[i].what);
    const auto own = joined ? find(*joined) : places_.end();
    const auto at = static_cast<std::size_t>(own - places_.begin());
    const bool is_behind = own != places_.end() && at >= head;
    v.name.skip((is_behind ? at : places_.size()) - head);
    if (is_behind) v.name.put(own->what);
    if (is_behind) v.name.skip(places_.size() - at - 1);
    return v;
  }

  view join(seat place, milliseconds ttl) {
    const auto at = find(place.who);
    const bool holds = std::ranges::any_of(holds_, [&](const seat& h) { return h.who == place.who; });
    if (at != places_.end()) at->what.expires = std::max(at->what.expires, now + ttl);
    if (at == places_.end() && !holds) {
      place.fresh = place.dirty = false;
      place.expires = now + ttl;
      place.created = ++rows_;
      places_.push_back({joins_ + 1, place});
    }
    if (!setting_.joins_without_count) ++joins_;
    crowd_ = true;
    return read(false, place.who);
  }

  settle::written write(const view& v) {
    if (v.guard != version_ && !setting_.ignores_version) {
      ++conflicts;
      return {.instead = read(false)};
    }
    judge(v);
    ++version_;
    floor_ = std::max(floor_, v.name.last_part());
    // By its row: what is removed may have had its turn before, in the same decision.
    const auto gone = [&](const place& p) {
      const auto same = [&](const seat& s) { return s.created == p.what.created; };
      return std::ranges::any_of(v.name.removed(), same) || std::ranges::any_of(v.name.holds(), same);
    };
    std::erase_if(places_, gone);
    for (const seat& w : v.name.queue()) {
      if (const auto at = find(w.who); at != places_.end() && w.dirty) at->what = clean(w);
    }
    std::vector<seat> left;
    for (const seat& h : v.name.holds()) {
      const auto row = std::ranges::find_if(holds_, [&](const seat& s) { return s.who == h.who; });
      left.push_back(h.dirty || row == holds_.end() ? clean(h) : *row);
      if (h.fresh) left.back().created = ++rows_;
    }
    holds_ = std::move(left);
    crowd_ = joins_ != v.joins || v.name.waiting() > 0;
    return {.applied = true, .joins = joins_};
  }

  // --- sessions

  void open(std::int64_t session, milliseconds ttl) { sessions_[session] = now + ttl; }
  bool renew(std::int64_t session, milliseconds ttl) {
    if (!lives(session)) return false;
    before_ = sessions_;
    sessions_[session] = std::max(sessions_[session], now + ttl);
    return true;
  }
  bool lives(std::int64_t session) const {
    const auto at = sessions_.find(session);
    return at != sessions_.end() && at->second > now;
  }
  // An UPDATE judges the time before it waits for the row.
  bool attach(const id& who, std::int64_t session) {
    for (seat& h : holds_) {
      if (h.who != who || h.is != seat::state::holding || !lives(session)) continue;
      if (h.lease == session) return true;
      if (h.lease != 0 || h.expires <= now - waits_for_row) return false;
      h.lease = session;
      version_ += setting_.attach_keeps_version ? 0 : 1;
      return true;
    }
    return false;
  }
  void end(const std::vector<std::int64_t>& sessions) {
    for (const auto s : sessions) {
      if (const auto at = sessions_.find(s); at != sessions_.end() && at->second <= now) {
        sessions_.erase(at);  // absent is dead
        ++kills;
      }
    }
  }

  bool empty() const { return holds_.empty() && places_.empty(); }

 private:
  struct place {
    std::uint64_t number;  // how many had joined when it came
    seat what;
  };

  std::vector<place>::iterator find(const id& who) {
    return std::ranges::find_if(places_, [&](const place& p) { return p.what.who == who; });
  }
  static seat clean(seat s) {
    s.fresh = s.dirty = false;
    return s;
  }
  // A hold under a session lives as long as that can be renewed; of a dead one its own row counts. A read has the sessions of its
  // snapshot, which may be older than the clock it asks: here those before the last renewal.
  seat as_of_its_session(seat h) {
    if (h.lease == 0) return h;
    const bool old = ++reads_ % 3 == 0 && before_.contains(h.lease) && sessions_.contains(h.lease);
    const auto& sessions = old ? before_ : sessions_;
    const auto at = sessions.find(h.lease);
    const bool dead = at == sessions.end() || (setting_.takes_without_killing && at->second <= now);
    if (dead) h.lease = 0;
    if (!dead) h.expires = std::max(h.expires, at->second);
    return h;
  }

  void judge(const view& v) {
    for (const seat& h : v.name.holds()) {
      if (h.ghost() || std::ranges::any_of(holds_, [&](const seat& s) { return s.who == h.who; })) continue;
      ++grants;
      const auto at = find(h.who);
      const auto number = at == places_.end() ? v.joins + 1 : at->number;
      for (const place& p : places_) {
        const auto same = [&](const seat& s) { return s.who == p.what.who; };
        // Who was over when it was read may have come back since: that is too late.
        const bool stays = std::ranges::none_of(v.name.holds(), same) && std::ranges::none_of(v.name.removed(), same);
        if (p.number < number && p.number <= v.joins && stays && p.what.expires > v.now) {
          wrong.push_back("granted before somebody who came earlier");
        }
      }
    }
  }
  void judge_new(const id& who) {
    for (const place& p : places_) {
      if (p.what.expires > now && p.what.who != who) wrong.push_back("taken in front of a queue");
    }
  }

  setting setting_;
  std::vector<seat> holds_;
  std::vector<place> places_;
  static constexpr milliseconds waits_for_row{50};
  std::map<std::int64_t, store_time> sessions_, before_;
  std::uint64_t reads_ = 0;
  std::int64_t rows_ = 0;
  std::uint64_t version_ = 1, joins_ = 0, floor_ = 0;
  bool crowd_ = false;
};

}  // namespace tyer::kit
