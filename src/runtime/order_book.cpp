#include "runtime/order_book.hpp"

#include "core/name.hpp"
#include "core/quoted.hpp"
#include "core/site.hpp"
#include "runtime/own_thread.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

std::string in_words(const debug::order_step& s) {
  return core::quoted(s.held) + " (" + core::printable(s.held_at) + "), then " + core::quoted(s.asked) + " (" +
         core::printable(s.asked_at) + ")";
}

std::string site_of(const std::source_location& where) {
  return core::site_of(where).substr(0, order_book::site_bytes_max);  // what read_order() takes
}

}  // namespace

// ---- what a flow does

void order_book::asks(flow who, std::string_view name, const std::source_location& where) noexcept {
  if (born_.forked()) return;
  reported found;
  try {
    const auto of_class = class_of(name);
    const std::lock_guard in{mutex_};
    const auto mine = held_.find(who);
    if (mine == held_.end()) return;
    for (const have& h : mine->second) {
      if (h.name == name) continue;  // the same lock: not a matter of order
      const auto how = h.of_class != of_class ? way::other : h.name < name ? way::up : way::down;
      see(h.of_class, of_class, how, [&] { return sites{site_of(h.at), site_of(where)}; }, found);
    }
  } catch (...) {  // memory is exhausted, or class_of() threw
    const std::lock_guard in{mutex_};
    ++left_out_;
  }
  tell(found);
}

order_book::place order_book::took(flow who, std::string_view name, const std::source_location& where) noexcept {
  if (born_.forked()) return 0;
  try {
    auto of_class = class_of(name);
    const std::lock_guard in{mutex_};
    auto& mine = held_[who];
    if (mine.size() < held_max) {
      mine.push_back({last_ + 1, std::move(of_class), std::string{name}, where});
      return ++last_;
    }
  } catch (...) {  // as in asks()
  }
  const std::lock_guard in{mutex_};
  ++left_out_;
  return 0;
}

void order_book::gave_back(flow who, place which) noexcept {
  if (which == 0 || born_.forked()) return;
  const std::lock_guard in{mutex_};
  const auto mine = held_.find(who);
  if (mine == held_.end()) return;
  std::erase_if(mine->second, [&](const have& h) { return h.which == which; });
  if (mine->second.empty()) held_.erase(mine);
}

order_book::flow order_book::new_flow() noexcept {
  static std::atomic<flow> last{flow{1} << 63};  // threads count from 1
  return last.fetch_add(1, std::memory_order_relaxed);
}

// ---- the graph

std::string order_book::class_of(std::string_view name) const {
  auto text = options_.class_of ? options_.class_of(name) : std::string{name};
  if (text.size() > core::name_bytes_max) text.resize(core::name_bytes_max);
  return text;
}

template <class Sites>
void order_book::see(std::string_view held, std::string_view asked, way how, Sites sites_of, reported& to) {
  const auto from = number_of(held), next = from ? number_of(asked) : std::nullopt;
  if (!next) return;
  const pair p{*from, *next, how};
  if (!pairs_.contains(p)) note(p, sites_of(), to);
}

// Nothing if there are too many.
std::optional<order_book::number> order_book::number_of(std::string_view of_class) {
  if (const auto at = numbers_.find(of_class); at != numbers_.end()) return at->second;
  if (classes_.size() >= options_.classes_max) {
    ++left_out_;
    return std::nullopt;
  }
  if (classes_.size() == classes_.capacity()) classes_.reserve(classes_.size() * 2 + 1);  // so push_back() cannot fail
  const auto next = static_cast<number>(classes_.size());
  classes_.push_back(numbers_.emplace(of_class, next).first->first);
  return next;
}

void order_book::note(const pair& p, sites s, reported& to) {
  if (pairs_.size() >= options_.pairs_max) {
    ++left_out_;
    return;
  }
  pairs_.emplace(p, std::move(s));
  const auto back = way_back(p);
  if (back.empty()) return;
  ++reversed_;
  const bool kept = reports_.size() < reports_max;
  if (!kept && !options_.on_reversed) return;
  auto report = report_of(p, back);
  if (kept) reports_.push_back(report);
  if (options_.on_reversed) to.push_back(std::move(report));
}

// The shortest way from what is asked for to what is held; empty if there is none.
std::vector<order_book::pair> order_book::way_back(const pair& p) const {
  const auto [held, asked, how] = p;
  if (how != way::other) {
    const pair back{held, asked, how == way::up ? way::down : way::up};
    return pairs_.contains(back) ? std::vector{back} : std::vector<pair>{};
  }
  std::map<number, number> came_from{{asked, asked}};
  for (std::deque<number> next{asked}; !next.empty() && !came_from.contains(held); next.pop_front()) {
    const number at = next.front();
    for (auto e = pairs_.lower_bound({at, 0, way::other}); e != pairs_.end() && std::get<0>(e->first) == at; ++e) {
      const number to = std::get<1>(e->first);
      if (!came_from.emplace(to, at).second) continue;
      next.push_back(to);
    }
  }
  std::vector<pair> steps;
  if (!came_from.contains(held)) return steps;
  for (number to = held; to != asked; to = came_from[to]) steps.insert(steps.begin(), {came_from[to], to, way::other});
  return steps;
}

// ---- reports

debug::order_step order_book::step_of(const pair& p) const {
  const auto [held, asked, how] = p;
  const sites& s = pairs_.at(p);
  return {std::string{classes_[held]}, s.held_at, std::string{classes_[asked]}, s.asked_at};
}

debug::order_report order_book::report_of(const pair& p, const std::vector<pair>& back) const {
  debug::order_report r{{step_of(p)}, {}};
  const auto shown = std::min(back.size(), debug::order_report::steps_max - 1);
  for (std::size_t i = 0; i < shown; ++i) r.steps.push_back(step_of(back[i]));
  r.text = "locks are taken in orders that exclude each other: " + in_words(r.steps.front());
  for (std::size_t i = 1; i < r.steps.size(); ++i) r.text += "; before that " + in_words(r.steps[i]);
  if (shown < back.size()) r.text += "; and " + std::to_string(back.size() - shown) + " more";
  if (std::get<2>(p) != way::other) r.text += "; of one class, once a larger name first and once a smaller";
  return r;
}

void order_book::tell(const reported& all) const noexcept {
  const runtime::own_thread_scope here;
  for (const auto& r : all) {
    try {
      options_.on_reversed(r);
    } catch (...) {  // the user's own
    }
  }
}

std::vector<debug::order_report> order_book::reports() const {
  if (born_.forked()) return {};
  const std::lock_guard in{mutex_};
  return reports_;
}

debug::order_counts order_book::counts() const noexcept {
  if (born_.forked()) return {};
  const std::lock_guard in{mutex_};
  return {classes_.size(), pairs_.size(), reversed_, left_out_};
}

// ---- from and to other books

std::vector<order_line> order_book::lines() const {
  if (born_.forked()) return {};
  const std::lock_guard in{mutex_};
  std::vector<order_line> all;
  all.reserve(pairs_.size());
  for (const auto& [p, unused] : pairs_) all.push_back({step_of(p), std::get<2>(p)});
  return all;
}

void order_book::add(const std::vector<order_line>& all) {
  if (born_.forked()) return;
  for (const auto& [step, how] : all) {
    reported found;
    {
      const std::lock_guard in{mutex_};
      see(step.held, step.asked, how, [&] { return sites{step.held_at, step.asked_at}; }, found);
    }
    tell(found);
  }
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
