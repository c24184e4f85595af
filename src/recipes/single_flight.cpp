#include "recipes/crowd.hpp"
#include "recipes/waiting.hpp"

#include <tyer/mutex.hpp>
#include <tyer/recipes/single_flight.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using detail::time_limit;
using std::chrono::milliseconds;

namespace {

// Pauses before this object tries to refresh a key again: after a refresh that failed, and while others do it.
constexpr milliseconds rest_after_failure{1000};
constexpr milliseconds rest_behind_others{100};

enum class refreshing { done, by_others, failed };

// What a caller is content with: any value that is stored, or none that was refused.
struct wish {
  const compute& make;
  const std::string* refused = nullptr;

  bool good(const found& f) const { return refused == nullptr || f.value != *refused; }
  std::optional<found> in(store& where, const std::string& key) const {
    auto there = where.find(key);
    if (there && !good(*there)) there.reset();
    return there;
  }
};

fresh as_fresh(found&& f) { return {std::move(f.value), f.left}; }

}  // namespace

struct single_flight::state {
  std::string name;
  std::shared_ptr<store> where;
  single_flight_options options;

  detail::crowd callers;

  // Keys that this object refreshes now, or must not refresh before a time.
  std::mutex mutex;
  std::map<std::string, lease_clock::time_point, std::less<>> not_before;

  bool old(const found& f) const { return f.left <= options.refresh_before; }
  bool may_refresh(const std::string& key);
  void refreshed(const std::string& key, refreshing how, std::exception_ptr failed = {});
  std::optional<fresh> under(const hold& h, const std::string& key, const wish& w, bool only_old) const;
  std::optional<std::string> refresh(const tyer::mutex& lock, const compute& make);
  std::optional<fresh> alone(const tyer::mutex& lock, const time_limit& limit, const wish& w) const;
  std::string wait(const tyer::mutex& lock, const wish& w);
};

bool single_flight::state::may_refresh(const std::string& key) {
  const std::lock_guard guard{mutex};
  const auto now = lease_clock::now();
  std::erase_if(not_before, [now](const auto& e) { return e.second <= now; });
  const auto at_the_latest = std::min<milliseconds>(options.wait_at_most, detail::a_year);
  return not_before.try_emplace(key, now + at_the_latest).second;  // an executor may drop the function
}

void single_flight::state::refreshed(const std::string& key, refreshing how, std::exception_ptr failed) {
  {
    const std::lock_guard guard{mutex};
    if (how == refreshing::done) {
      not_before.erase(key);
    } else {
      const auto behind = std::min(rest_behind_others, options.refresh_before / 4);
      not_before[key] = lease_clock::now() + (how == refreshing::failed ? rest_after_failure : behind);
    }
  }
  if (failed && options.refresh_failed) options.refresh_failed(failed);
}

// The value, computed under the lock unless it is stored by now. Nothing: a later holder was here.
std::optional<fresh> single_flight::state::under(const hold& h, const std::string& key, const wish& w,
                                                 bool only_old) const {
  const auto pass = h.fence();
  entered e = where->enter(key, pass);
  if (!e.let_in) return {};
  if (e.there && w.good(*e.there) && !(only_old && old(*e.there))) return as_fresh(std::move(*e.there));
  fresh made = w.make(h);
  if (!where->put(key, pass, made)) return {};
  return made;
}

// One attempt for the lock: nothing if somebody else computes.
std::optional<std::string> single_flight::state::refresh(const tyer::mutex& lock, const compute& make) {
  const std::string key{lock.name()};
  std::optional<fresh> made;
  try {
    const hold h = lock.try_acquire();
    if (h) made = under(h, key, {make}, true);
    refreshed(key, h ? refreshing::done : refreshing::by_others);
  } catch (...) {
    refreshed(key, refreshing::failed, std::current_exception());
  }
  if (!made) return {};
  return std::move(made->value);
}

// What the engine lets this caller compute or find. Nothing: others have computed, or do for longer than the limit.
std::optional<fresh> single_flight::state::alone(const tyer::mutex& lock, const time_limit& limit,
                                                 const wish& w) const {
  const std::string key{lock.name()};
  const hold h = detail::acquire_within(lock, limit);
  if (h) {
    if (auto made = under(h, key, w, false)) return made;
  }
  auto there = w.in(*where, key);
  if (!there) return {};
  return as_fresh(std::move(*there));
}

std::string single_flight::state::wait(const tyer::mutex& lock, const wish& w) {
  const time_limit limit{options.wait_at_most};
  const std::string key{lock.name()};
  for (;;) {
    // A caller of this process that asks and hangs is waited for no longer than other machines wait for it.
    if (auto turn = callers.ask(key, std::min<lease_clock::duration>(limit.left(), options.lock.ttl))) {
      if (auto got = alone(lock, limit, w)) {
        if (got->lives_for.count() > 0) turn->stored();
        return std::move(got->value);
      }
    } else if (auto there = w.in(*where, key)) {
      return std::move(there->value);
    }
    if (limit.over()) detail::timed_out(key, limit);
  }
}

single_flight::single_flight(const client& owner, std::string_view name, std::shared_ptr<store> where,
                             single_flight_options options)
    : client_(tyer::detail::same_client(owner)), state_(std::make_shared<state>()) {
  detail::require(where != nullptr, "a single_flight needs a store");
  detail::require(options.wait_at_most.count() > 0, "wait_at_most must be above 0");
  detail::require(options.refresh_before.count() >= 0, "refresh_before must not be below 0");
  state_->name = name;
  state_->where = std::move(where);
  state_->options = std::move(options);
}

single_flight::single_flight(single_flight&& other) noexcept : client_(other.client_), state_(other.state_) {}
single_flight& single_flight::operator=(single_flight&& other) noexcept {
  client_ = other.client_;
  state_ = other.state_;
  return *this;
}
single_flight::~single_flight() = default;

std::string single_flight::get(std::string_view key, const compute& make) const { return get_but(nullptr, key, make); }

std::string single_flight::get_but(const std::string* refused, std::string_view key, const compute& make) const {
  const auto whole = detail::lock_name(state_->name, key);
  const wish w{make, refused};
  auto there = w.in(*state_->where, whole);
  if (there && !state_->old(*there)) return std::move(there->value);
  tyer::mutex lock{*client_, whole, state_->options.lock};
  if (!there) return state_->wait(lock, w);
  if (!state_->may_refresh(whole)) return std::move(there->value);
  if (!state_->options.refresh_on) {
    auto newer = state_->refresh(lock, make);
    return std::move(newer ? *newer : there->value);
  }
  try {
    auto kept = std::make_shared<tyer::mutex>(std::move(lock));
    state_->options.refresh_on([s = state_, kept, make] { s->refresh(*kept, make); });
  } catch (...) {
    state_->refreshed(whole, refreshing::failed, std::current_exception());
  }
  return std::move(there->value);
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
