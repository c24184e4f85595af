#include "recipes/fnv.hpp"
#include "recipes/waiting.hpp"

#include <tyer/recipes/striped.hpp>

#include <atomic>
#include <random>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace recipes {

namespace {

constexpr std::size_t stripes_max = 65536;

// After so many stripes that did not answer, and none that did, the whole engine is taken to be away.
constexpr std::size_t silent_max = 8;

// Tries one stripe after the other. In a cluster the server of one may be away, while the others have theirs.
class sweep {
 public:
  enum class found { free, taken, away };

  found look_at(const mutex& stripe, hold& h, std::source_location where) {
    failure why;
    h = stripe.try_acquire(why, where);
    if (why && !(why == errc::unavailable)) throw error(why);
    if (!why) {
      answered_ = true;
      return h ? found::free : found::taken;
    }
    silence_ = std::move(why);
    if (++silent_ == silent_max) over();
    return found::away;
  }

  // Throws if none has answered.
  void over() const {
    if (silence_ && !answered_) throw error(silence_);
  }

 private:
  bool answered_ = false;
  std::size_t silent_ = 0;
  failure silence_;
};

}  // namespace

struct striped::state {
  std::vector<mutex> stripes;
  // Starts at random, so that machines that start together do not all want the same stripe.
  std::atomic<std::size_t> turn{std::random_device{}()};

  std::size_t next() noexcept { return turn.fetch_add(1, std::memory_order_relaxed) % stripes.size(); }
  std::size_t behind(std::size_t first, std::size_t i) const noexcept { return (first + i) % stripes.size(); }
};

striped::striped(const client& owner, std::string_view name, std::size_t stripes, lock_options options,
                 std::source_location where)
    : state_(std::make_shared<state>()) {
  detail::require(stripes >= 1 && stripes <= stripes_max, "stripes must be from 1 to 65,536");
  state_->stripes.reserve(stripes);
  for (std::size_t i = 0; i < stripes; ++i) {
    state_->stripes.emplace_back(owner, detail::lock_name(name, std::to_string(i)), options, where);
  }
}

striped::striped(striped&& other) noexcept : state_(other.state_) {}
striped& striped::operator=(striped&& other) noexcept {
  state_ = other.state_;
  return *this;
}
striped::~striped() = default;

std::size_t striped::size() const noexcept { return state_->stripes.size(); }

std::size_t striped::stripe_of(std::string_view key) const noexcept {
  return static_cast<std::size_t>(detail::fnv1a(key) % size());
}

const mutex& striped::at(std::size_t stripe) const& {
  detail::require(stripe < size(), "there is no such stripe");
  return state_->stripes[stripe];
}

stripe_hold striped::acquire(std::string_view key, std::stop_token stop, std::source_location where) const {
  const auto i = stripe_of(key);
  return {i, state_->stripes[i].acquire(std::move(stop), where)};
}

stripe_hold striped::acquire_any(std::stop_token stop, std::source_location where) const {
  const auto first = state_->next();
  std::optional<std::size_t> taken;
  sweep all;
  hold h;
  for (std::size_t i = 0; i < size() && !stop.stop_requested(); ++i) {
    const auto at = state_->behind(first, i);
    const auto found = all.look_at(state_->stripes[at], h, where);
    if (found == sweep::found::free) return {at, std::move(h)};
    if (found == sweep::found::taken && !taken) taken = at;
  }
  all.over();
  const auto at = taken.value_or(first);
  return {at, state_->stripes[at].acquire(std::move(stop), where)};
}

std::optional<std::size_t> striped::take(const std::function<bool(std::size_t, const hold&)>& f, std::stop_token stop,
                                         std::source_location where) const {
  const auto first = state_->next();
  std::vector<std::size_t> taken, away;
  sweep all;
  for (std::size_t i = 0; i < size(); ++i) {
    if (stop.stop_requested()) throw error(errc::cancelled);
    const auto at = state_->behind(first, i);
    hold h;
    const auto found = all.look_at(state_->stripes[at], h, where);
    if (found == sweep::found::free && f(at, h)) return at;
    if (found != sweep::found::free) (found == sweep::found::taken ? taken : away).push_back(at);
  }
  all.over();
  taken.insert(taken.end(), away.begin(), away.end());
  for (const auto at : taken) {
    const hold h = state_->stripes[at].acquire(stop, where);
    if (f(at, h)) return at;
  }
  return {};
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
