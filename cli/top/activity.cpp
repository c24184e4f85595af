#include "top/activity.hpp"

#include "run/once.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace cli {

namespace {

using std::chrono::milliseconds;

// Another library's holder has no id.
std::string id_of(const tyer::lock_entry& e) { return e.id ? e.id.text() : e.owner.text; }

milliseconds longest_wait(const entries& all) {
  milliseconds longest{};
  for (const auto& e : all) {
    if (e.waiting) longest = std::max(longest, asked_for(e).value_or(milliseconds::zero()));
  }
  return longest;
}

}  // namespace

double activity::per_second(std::size_t turns, time_point now) const {
  const auto seen_for = std::min<std::chrono::duration<double>>(now - began_, window);
  return seen_for.count() > 0 ? static_cast<double>(turns) / seen_for.count() : 0;
}

void activity::end_holders(record& r, const std::map<std::string, holder>& now) {
  for (const auto& [id, h] : r.holders) {
    if (h.late && !now.contains(id)) ++totals_.ran_out;
  }
}

void activity::forget_turns(record& r, time_point now) {
  while (!r.turns.empty() && r.turns.front() <= now - window) r.turns.pop_front();
}

busy_lock activity::judge(lock l, record& r, time_point now) {
  busy_lock b;
  b.waiters = waiting(l.all);
  b.longest_wait = longest_wait(l.all);
  std::map<std::string, holder> holders;
  bool turned = false;
  for (const auto& e : l.all) {
    if (e.waiting || once_per::is_memory(e)) continue;  // nobody renews what --once-per keeps
    const auto before = r.holders.find(id_of(e));
    holder h = before == r.holders.end() ? holder{} : before->second;
    turned |= before == r.holders.end();
    h.most_left = std::max(h.most_left, e.remaining);
    h.late = e.remaining < h.most_left / 2;
    b.late |= h.late;
    totals_.late += h.late ? 1 : 0;
    holders.emplace(id_of(e), h);
  }
  if (turned && !first_) r.turns.push_back(now);
  end_holders(r, holders);
  r.holders = std::move(holders);
  forget_turns(r, now);
  b.turns = per_second(r.turns.size(), now);
  b.now = std::move(l);
  return b;
}

std::vector<busy_lock> activity::look(std::vector<lock> locks, time_point now) {
  if (first_) began_ = now;
  totals_ = {.ran_out = totals_.ran_out};
  std::set<std::string> seen;
  std::vector<busy_lock> all;
  for (auto& l : locks) {
    seen.insert(l.name);
    auto& r = records_[l.name];
    all.push_back(judge(std::move(l), r, now));
    totals_.held += r.holders.empty() ? 0 : 1;
    totals_.waiters += all.back().waiters;
  }
  first_ = false;
  // A name that is free now may be taken again soon: its turns count for as long as the window.
  for (auto at = records_.begin(); at != records_.end();) {
    auto& [name, r] = *at;
    const bool free = !seen.contains(name);
    if (free) end_holders(r, {});
    if (free) r.holders.clear();
    forget_turns(r, now);
    totals_.turns += per_second(r.turns.size(), now);
    at = free && r.turns.empty() ? records_.erase(at) : std::next(at);
  }
  const auto busier = [](const busy_lock& b) { return std::tuple{b.waiters, b.turns, b.longest_wait}; };
  std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return busier(a) > busier(b); });
  return all;
}

}  // namespace cli
