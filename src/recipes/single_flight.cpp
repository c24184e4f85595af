#include "recipes/waiting.hpp"

#include <tyer/mutex.hpp>
#include <tyer/recipes/single_flight.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using detail::time_limit;
using std::chrono::milliseconds;

namespace {

// Pause after a failed refresh.
constexpr auto rest_after_failure = std::chrono::seconds{1};

}  // namespace

struct single_flight::state {
  std::string name;
  std::shared_ptr<store> where;
  single_flight_options options;

  // Keys that this object refreshes now, or must not refresh before a time.
  std::mutex mutex;
  std::map<std::string, lease_clock::time_point, std::less<>> not_before;

  bool old(const found& f) const { return f.left <= options.refresh_before; }
  bool may_refresh(const std::string& key);
  void refreshed(const std::string& key, std::exception_ptr failed);
  std::optional<std::string> under(const hold& h, const std::string& key, const compute& make, bool only_old) const;
  std::optional<std::string> refresh(const tyer::mutex& lock, const compute& make);
  std::string wait(const tyer::mutex& lock, const compute& make) const;
};

bool single_flight::state::may_refresh(const std::string& key) {
  const std::lock_guard guard{mutex};
  const auto now = lease_clock::now();
  std::erase_if(not_before, [now](const auto& e) { return e.second <= now; });
  return not_before.try_emplace(key, now + options.wait_at_most).second;  // an executor may drop the function
}

void single_flight::state::refreshed(const std::string& key, std::exception_ptr failed) {
  {
    const std::lock_guard guard{mutex};
    if (failed) {
      not_before[key] = lease_clock::now() + rest_after_failure;
    } else {
      not_before.erase(key);
    }
  }
  if (failed && options.refresh_failed) options.refresh_failed(failed);
}

// The value, computed under the lock unless it is stored by now. Nothing: a later holder was here.
std::optional<std::string> single_flight::state::under(const hold& h, const std::string& key, const compute& make,
                                                       bool only_old) const {
  const auto pass = h.fence();
  entered e = where->enter(key, pass);
  if (!e.let_in) return {};
  if (e.there && !(only_old && old(*e.there))) return std::move(e.there->value);
  fresh made = make(h);
  if (!where->put(key, pass, made)) return {};
  return std::move(made.value);
}

// One attempt for the lock: nothing if somebody else computes.
std::optional<std::string> single_flight::state::refresh(const tyer::mutex& lock, const compute& make) {
  const std::string key{lock.name()};
  std::optional<std::string> value;
  std::exception_ptr failed;
  try {
    if (const hold h = lock.try_acquire()) value = under(h, key, make, true);
  } catch (...) {
    failed = std::current_exception();
  }
  refreshed(key, failed);
  return value;
}

std::string single_flight::state::wait(const tyer::mutex& lock, const compute& make) const {
  const time_limit limit{options.wait_at_most};
  const std::string key{lock.name()};
  for (;;) {
    const hold h = detail::acquire_within(lock, limit);
    if (h) {
      if (auto value = under(h, key, make, false)) return std::move(*value);
    }
    if (auto there = where->find(key)) return std::move(there->value);
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

std::string single_flight::get(std::string_view key, const compute& make) const {
  const auto whole = detail::lock_name(state_->name, key);
  auto there = state_->where->find(whole);
  if (there && !state_->old(*there)) return std::move(there->value);
  tyer::mutex lock{*client_, whole, state_->options.lock};
  if (!there) return state_->wait(lock, make);
  if (!state_->may_refresh(whole)) return std::move(there->value);
  if (!state_->options.refresh_on) {
    auto newer = state_->refresh(lock, make);
    return std::move(newer ? *newer : there->value);
  }
  try {
    auto kept = std::make_shared<tyer::mutex>(std::move(lock));
    state_->options.refresh_on([s = state_, kept, make] { s->refresh(*kept, make); });
  } catch (...) {
    state_->refreshed(whole, std::current_exception());
  }
  return std::move(there->value);
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
