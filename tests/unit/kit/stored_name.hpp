// A name at a server: each operation makes a resource from what is written there, operates once, and writes what was marked. It
// can be asked whatever a resource can, so that the judge of a resource judges the marks too.
#pragma once

#include "engines/kit/resource.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tyer::kit {

class stored_name {
 public:
  struct setting {
    bool stamped_by_write = false;
    std::size_t turns = 1000;
    std::size_t head = 1000;  // how many of the queue are read at first
  };

  stored_name() : stored_name(setting{}) {}
  explicit stored_name(const setting& s) : setting_(s) {}

  result<answer> acquire(const request& r, store_time now, notices& out) {
    const auto decide = [&](resource& n, notices& told) { return n.acquire(r, now, told); };
    auto said = settle(now, out, decide, r.what.who);
    tell_part(said, r.what.who);
    return said;
  }
  result<answer> convert(const id& who, mode to, store_time now, notices& out) {
    auto said = settle(now, out, [&](resource& n, notices& told) { return n.convert(who, to, now, told); });
    tell_part(said, who);
    return said;
  }
  fate keep(const id& who, fate as, milliseconds ttl, store_time now, notices& out) {
    return settle(now, out, [&](resource& n, notices& told) { return n.keep(who, as, ttl, now, told); });
  }
  fate release(const id& who, bool clean, store_time now, notices& out) {
    return settle(now, out, [&](resource& n, notices& told) { return n.release(who, clean, now, told); });
  }
  fate evict(const id& who, std::string_view why, store_time now, notices& out) {
    return settle(now, out, [&](resource& n, notices& told) { return n.evict(who, why, now, told); });
  }
  std::uint32_t ask(std::string_view why, store_time now, notices& out) {
    return settle(now, out, [&](resource& n, notices& told) { return n.ask(why, now, told); });
  }

  std::vector<seat> holds() const { return rows(false); }
  std::vector<seat> queue() const { return rows(true); }
  std::uint64_t last_part() const { return std::max(largest_, floor_); }
  bool reads_the_head_only() const { return setting_.head < 1000; }
  std::size_t whole_reads() const { return whole_reads_; }

 private:
  static constexpr std::uint64_t parts_per_write = 128;

  std::vector<seat> rows(bool that_wait) const {
    std::vector<seat> all;
    for (const auto& [created, s] : rows_) {
      if (s.waits() == that_wait) all.push_back(s);
    }
    return all;
  }

  // Holds, the head of the queue or all of it and, after joining, whoever asks.
  resource read(bool all, const std::optional<id>& joined = {}) {
    whole_reads_ += all;
    limits l;
    l.stored = true;
    l.stamped_by_write = setting_.stamped_by_write;
    l.turns = setting_.turns;
    resource n{l};
    n.put_floor(floor_);
    n.put_next_part(static_cast<std::uint64_t>(revision_ + 1) * parts_per_write);
    for (const seat& s : holds()) n.put(s);
    const auto line = queue();
    const auto head = all ? line.size() : std::min(setting_.head, line.size());
    for (std::size_t i = 0; i < head; ++i) n.put(line[i]);
    const auto own = joined ? std::ranges::find(line, *joined, &seat::who) : line.end();
    const auto at = static_cast<std::size_t>(own - line.begin());
    const bool is_behind = own != line.end() && at >= head;
    n.skip((is_behind ? at : line.size()) - head);
    if (is_behind) n.put(*own);
    if (is_behind) n.skip(line.size() - at - 1);
    return n;
  }

  template <class F>
  using answer_of = std::invoke_result_t<F, resource&, notices&>;

  template <class F>
  answer_of<F> decide_on_head(const std::optional<id>& joined, F decide, resource& n, notices& told) {
    told.clear();
    n = read(false, joined);
    auto said = decide(n, told);
    if (!n.needs_all()) return said;
    told.clear();
    n = read(true);
    return decide(n, told);
  }

  template <class F>
  answer_of<F> settle(store_time now, notices& out, F decide, const std::optional<id>& who = {}) {
    resource n;
    notices told;
    if (setting_.turns < 1000 || reads_the_head_only()) {  // whose turn it was before has it first
      turn(now, n, told);
      finish(now, n, told, out);
    }
    auto said = decide_on_head({}, decide, n, told);
    const seat* own = who ? n.find(*who) : nullptr;
    // A place that may be there already is joined and not written, so that it is there once.
    if (own != nullptr && own->fresh && own->waits()) {
      seat place = *own;
      turn(now, n, told);
      finish(now, n, told, out);
      join(std::move(place), now);
      said = decide_on_head(who, decide, n, told);
    }
    finish(now, n, told, out);
    return said;
  }

  void turn(store_time now, resource& n, notices& told) {
    decide_on_head({}, [&](resource& r, notices& to) { return r.reap(now, to), true; }, n, told);
  }

  void finish(store_time now, resource& n, notices& told, notices& out) {
    for (;;) {
      const bool more = n.turns_left();
      write(n);
      out.insert(out.end(), told.begin(), told.end());
      if (!more) return;
      turn(now, n, told);
    }
  }

  void join(seat place, store_time now) {
    std::erase_if(
        rows_, [&](const auto& r) { return r.second.who == place.who && r.second.waits() && r.second.expires <= now; });
    for (const auto& [created, s] : rows_) {
      if (s.who == place.who && !s.ghost()) return;
    }
    place.created = ++revision_;
    place.fresh = place.dirty = false;
    rows_.emplace(place.created, std::move(place));
  }

  void write(resource& n) {
    if (!n.dirty()) return;
    ++revision_;
    for (const seat& s : n.removed()) rows_.erase(s.created);
    floor_ = n.last_part();
    n.wrote(revision_, static_cast<std::uint64_t>(revision_) * parts_per_write);
    const auto put = [&](const seat& s) {
      if (s.modified != revision_) return;
      rows_.insert_or_assign(s.created, s);
      largest_ = std::max(largest_, s.part);
    };
    std::ranges::for_each(n.holds(), put);
    std::ranges::for_each(n.queue(), put);
  }

  void tell_part(result<answer>& said, const id& who) const {
    auto* a = std::get_if<answer>(&said);
    auto* g = a != nullptr ? std::get_if<engine::granted>(a) : nullptr;
    if (g == nullptr) return;
    for (const seat& s : holds()) {
      if (s.who == who && !s.ghost()) g->part = s.part;
    }
  }

  setting setting_;
  std::map<std::int64_t, seat> rows_;  // by when they were created, which is the order of the queue
  std::uint64_t floor_ = 0, largest_ = 0;
  std::int64_t revision_ = 10;
  std::size_t whole_reads_ = 0;
};

}  // namespace tyer::kit
