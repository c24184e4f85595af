#include "deadlocks/waits.hpp"

#include "run/runner.hpp"

#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace cli {

namespace {

using tyer::lock_mode;
using process_key = std::pair<std::string, std::uint64_t>;

// What runs inside the command of a `tyer run` waits for it, as a thread would.
process_key key_of(const tyer::lock_entry& e) {
  const auto runs = read_label(e.owner.label);
  return {e.owner.host, runs && runs->inside != 0 ? runs->inside : e.owner.pid};
}
bool is_known(const tyer::lock_entry& e) { return !e.owner.host.empty() && e.owner.pid != 0; }

// How many of each kind there are, and how many of them are of one process.
class tally {
 public:
  enum kind : std::uint8_t { exclusive, shared, permit, holder, free_holder };

  void add(kind k, std::size_t by) {
    ++all_[k];
    if (by != waits::nobody) ++of_[by][k];
  }
  std::size_t all(kind k) const { return all_[k]; }
  std::size_t of(kind k, std::size_t by) const {
    const auto at = of_.find(by);
    return at == of_.end() ? 0 : at->second[k];
  }
  bool others(kind k, std::size_t by) const { return all(k) > of(k, by); }

 private:
  using counts = std::array<std::size_t, 5>;
  counts all_{};
  std::unordered_map<std::size_t, counts> of_;
};

tally::kind kind_of(lock_mode m) {
  return m == lock_mode::exclusive ? tally::exclusive : m == lock_mode::shared ? tally::shared : tally::permit;
}

// Whether a place waits for one of those before it. Permits: one of the holders is enough, so all of them must be stuck.
bool is_barred(const tally& before, lock_mode m, std::size_t by) {
  if (m == lock_mode::permit)
    return before.all(tally::holder) > 0 && before.all(tally::free_holder) == 0 && before.of(tally::holder, by) == 0;
  const bool by_one_alone = before.others(tally::exclusive, by) || before.others(tally::permit, by);
  return by_one_alone || (m == lock_mode::exclusive && before.others(tally::shared, by));
}

bool is_wanted(const tally& after, const tyer::lock_entry& e, std::size_t by) {
  return after.others(tally::exclusive, by) || (e.mode != lock_mode::shared && after.others(tally::shared, by)) ||
         (!e.waiting && after.others(tally::permit, by));
}

}  // namespace

waits::waits(const std::vector<seen_lock>& all) {
  std::map<process_key, std::size_t> numbers;
  for (const auto& l : all) {
    for (const auto& e : l.what.all) {
      if (is_known(e)) numbers.try_emplace(key_of(e));
    }
  }
  std::size_t next = 0;
  for (auto& [key, number] : numbers) number = next++;
  spots_.resize(next);
  is_in_.assign(next, true);
  for (const auto& l : all) {
    auto& q = locks_.emplace_back();
    for (const auto& e : l.what.all) {
      const auto by = is_known(e) ? numbers.at(key_of(e)) : nobody;
      if (by != nobody) spots_[by].push_back({locks_.size() - 1, q.size()});
      q.push_back({&e, by});
    }
  }
  keep_those_that_wait();
  keep_those_that_are_waited_for();
}

void waits::leave_out(const std::vector<std::size_t>& processes) {
  for (const auto p : processes) is_in_[p] = false;
  keep_those_that_are_waited_for();
}

void waits::keep_those_that_wait() {
  std::vector<std::vector<bool>> reasons;
  for (auto& q : locks_) {
    auto& mine = reasons.emplace_back();
    for (auto& e : q) mine.push_back(e.stuck = e.what->waiting && is_in(e.by));
  }
  peel(std::move(reasons), [this](std::size_t lock, const verdict& told) {
    tally before;
    for (std::size_t at = 0; at < locks_[lock].size(); ++at) {
      auto& e = locks_[lock][at];
      if (e.stuck) {
        e.stuck = is_barred(before, e.what->mode, e.by);
        told(at, e.stuck);
      }
      if (is_in(e.by)) before.add(kind_of(e.what->mode), e.by);
      if (!e.what->waiting) before.add(tally::holder, e.by);
      if (!e.what->waiting && !is_in(e.by)) before.add(tally::free_holder, e.by);
    }
  });
}

void waits::keep_those_that_are_waited_for() {
  std::vector<std::vector<bool>> reasons;
  for (const auto& q : locks_) {
    auto& mine = reasons.emplace_back();
    for (const auto& e : q) mine.push_back(is_in(e.by));
  }
  peel(std::move(reasons), [this](std::size_t lock, const verdict& told) {
    tally after;
    for (auto at = locks_[lock].size(); at-- > 0;) {
      const auto& e = locks_[lock][at];
      if (is_in(e.by)) told(at, is_wanted(after, *e.what, e.by));
      if (e.stuck && is_in(e.by)) after.add(kind_of(e.what->mode), e.by);
    }
  });
}

void waits::peel(std::vector<std::vector<bool>> reasons,
                 const std::function<void(std::size_t lock, const verdict&)>& judge) {
  std::vector<std::size_t> left(is_in_.size());
  for (std::size_t p = 0; p < left.size(); ++p) {
    for (const auto& s : spots_[p]) left[p] += reasons[s.lock][s.at] ? 1 : 0;
    is_in_[p] = left[p] > 0;
  }
  std::deque<std::size_t> next;
  std::vector<bool> is_next(locks_.size(), true);
  for (std::size_t lock = 0; lock < locks_.size(); ++lock) next.push_back(lock);
  while (!next.empty()) {
    const auto lock = next.front();
    next.pop_front();
    is_next[lock] = false;
    judge(lock, [&](std::size_t at, bool stays) {
      if (stays || !reasons[lock][at]) return;
      reasons[lock][at] = false;
      const auto by = locks_[lock][at].by;
      if (--left[by] > 0) return;
      is_in_[by] = false;
      for (const auto& s : spots_[by]) {
        if (!is_next[s.lock]) next.push_back(s.lock);
        is_next[s.lock] = true;
      }
    });
  }
}

bool waits::bars(const entry& other, const entry& place) const {
  if (!is_in(other.by) || other.by == place.by) return false;
  if (place.what->mode == lock_mode::permit) return !other.what->waiting;
  return place.what->mode != lock_mode::shared || other.what->mode != lock_mode::shared;
}

void waits::each_wait(std::size_t process, const std::function<void(spot place, spot other)>& tell) const {
  for (const auto& s : spots_[process]) {
    const auto& q = locks_[s.lock];
    if (!q[s.at].stuck) continue;
    for (std::size_t at = 0; at < s.at; ++at) {
      if (bars(q[at], q[s.at])) tell(s, {s.lock, at});
    }
  }
}

}  // namespace cli
