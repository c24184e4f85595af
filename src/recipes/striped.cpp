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
  for (std::size_t i = 0; i < size() && !stop.stop_requested(); ++i) {
    const auto at = state_->behind(first, i);
    if (hold h = state_->stripes[at].try_acquire(where)) return {at, std::move(h)};
  }
  return {first, state_->stripes[first].acquire(std::move(stop), where)};
}

std::optional<std::size_t> striped::take(const std::function<bool(std::size_t, const hold&)>& f, std::stop_token stop,
                                         std::source_location where) const {
  const auto first = state_->next();
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < size(); ++i) {
    if (stop.stop_requested()) throw error(errc::cancelled);
    const auto at = state_->behind(first, i);
    const hold h = state_->stripes[at].try_acquire(where);
    if (!h)
      taken.push_back(at);
    else if (f(at, h))
      return at;
  }
  for (const auto at : taken) {
    const hold h = state_->stripes[at].acquire(stop, where);
    if (f(at, h)) return at;
  }
  return {};
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
