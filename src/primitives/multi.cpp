#include "primitives/multi.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <tuple>
#include <utility>

namespace tyer::primitives {

namespace {

// Requested when the caller stops, or when one of the holds is lost: then waiting for the next lock is useless.
class interruption {
 public:
  explicit interruption(std::stop_token caller) : on_caller_(std::move(caller), stop{&source_}) {}
  void watch(const std::stop_token& lost) { on_loss_.emplace_back(lost, stop{&source_}); }
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct stop {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };
  using callback = std::stop_callback<stop>;

  std::stop_source source_;
  callback on_caller_;
  std::list<callback> on_loss_;
};

lease::time_point now_of(const locks& all) { return all.front()->home->time().now(); }

// Acquires all locks once, in order. `lost` if one was lost on the way.
all_acquired one_round(const locks& all, const patience& p, lease::time_point limit, const std::stop_token& caller,
                       const std::source_location& where) {
  all_acquired result{{}, holds{all}};
  interruption interrupted{caller};
  for (const auto& l : all) {
    const bool limited = limit != lease::time_point::max();
    const auto left = limited ? limit - now_of(all) : lease::duration::zero();
    if (limited && left <= lease::duration::zero() && !result.holds.empty()) return {{}, {}};
    // Always with the limit, even if no time is left: a single attempt would wait longer for a silent engine.
    const auto mine = limited ? patience{true, std::max<lease::duration>(left, lease::duration{1})} : p;
    auto got = acquire_blocking(*l->home, l->what, mine, interrupted.token(), where);
    if (!got.hold) {
      const bool lost = got.error.code == errc::cancelled && !caller.stop_requested();
      return {lost ? tyer::failure{errc::lost} : std::move(got.error), {}};
    }
    auto on_loss = got.hold->lost();
    result.holds.push_back(std::move(got.hold));
    interrupted.watch(on_loss);
  }
  if (!result.holds.all_valid()) {
    result.holds.give_back();
    result.error = errc::lost;
  }
  return result;
}

// Before the first of them is waited for: whoever has that one may wait for what this thread has.
tyer::failure own_wait(const locks& all, const std::source_location& where) {
  for (const auto& l : all) {
    const auto& notes = l->home->notes();
    if (!notes || unusable(*l->home, true)) continue;  // the attempt tells why
    if (auto f = notes->own_wait(*l->what, where, l->home->time().now())) return f;
  }
  return {};
}

}  // namespace

holds::holds(const locks& of) : of_(&of) { got_.reserve(of.size()); }

void holds::push_back(hold_ptr h) noexcept { got_.push_back(std::move(h)); }

bool holds::all_valid() const noexcept {
  for (std::size_t i = 0; i < got_.size(); ++i) {
    if (!got_[i]->valid((*of_)[i]->home->time().now())) return false;
  }
  return true;
}

// In reverse order: a waiter for an earlier lock will want the later ones too.
void holds::give_back() noexcept {
  while (!got_.empty()) {
    give_back_quietly(*(*of_)[got_.size() - 1]->home, std::move(got_.back()));
    got_.pop_back();
  }
}

locks in_order(std::vector<multi_part> parts) {
  const auto key = [](const multi_part& p) { return std::tie(p.lock->what->name, p.identity); };
  std::ranges::sort(parts, {}, key);
  const auto twice = std::ranges::unique(parts, {}, key);
  parts.erase(twice.begin(), twice.end());
  locks all;
  for (auto& p : parts) all.push_back(std::move(p.lock));
  return all;
}

all_acquired acquire_all(const locks& all, const patience& p, std::stop_token stop, const std::source_location& where) {
  if (p.waits && !stop.stop_requested()) {
    if (auto f = own_wait(all, where)) return {std::move(f), {}};
  }
  const auto limit = limit_of(*all.front()->home, p);
  for (;;) {
    auto result = one_round(all, p, limit, stop, where);
    if (result.error.code != errc::lost || !p.waits || now_of(all) >= limit) return result;
  }
}

}  // namespace tyer::primitives
