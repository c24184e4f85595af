#include "api/acquiring.hpp"
#include "api/calling.hpp"
#include "api/observing.hpp"
#include "core/owner.hpp"
#include "core/token.hpp"

#include <tyer/election.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

// The owner's text ends where the note begins.
leadership describe(const engine::entry& e) {
  const auto cut = e.owner.find('\n');
  leadership l;
  l.term = core::make_token(e.part, 0);
  l.owner = core::owner_in_short(e.owner);
  if (cut != std::string::npos) l.note = e.owner.substr(cut + 1);
  l.remaining = e.left;
  return l;
}

std::optional<leadership> leader_in(const engine::page& p) {
  for (const auto& e : p.entries) {
    if (e.what == core::fate::holding) return describe(e);
  }
  return std::nullopt;
}

}  // namespace

election::election(const client& owner, std::string_view name, lock_options options, std::source_location where)
    : acquirable(detail::access::make_lock(owner, name, options, where, {.needs_token = true})) {}

std::optional<leadership> election::current() const {
  failure why;
  auto now = current(why);
  if (why) throw error(why);
  return now;
}

std::optional<leadership> election::current(failure& why) const noexcept {
  return detail::or_tell<std::optional<leadership>>(why, [&]() -> std::optional<leadership> {
    auto shown = primitives::show_blocking(*state_->home, state_->what->name);
    why = std::move(shown.error);
    if (why) return std::nullopt;
    return leader_in(shown.value);
  });
}

observation election::observe(std::function<void(const std::optional<leadership>&)> changed, look_failed failed) const {
  if (auto f = primitives::unusable(*state_->home, false)) throw error(f);
  if (!changed) throw error(detail::no_function());
  // `told` is the term that was reported last, if any.
  auto look = [told = std::optional<std::optional<std::uint64_t>>{},
               f = std::make_shared<decltype(changed)>(std::move(changed))](
                  const engine::page& p, bool in_any_case) mutable -> std::function<void()> {
    auto now = leader_in(p);
    const auto term = now ? std::optional{now->term} : std::nullopt;
    if (!in_any_case && told && *told == term) return nullptr;
    std::function<void()> tell = [f, now = std::move(now)] { (*f)(now); };
    told = term;
    return tell;
  };
  auto s = std::make_shared<detail::observation_state>(state_->home, std::move(look), std::move(failed));
  s->start(state_->what->name, {.waiters = false, .every = state_->what->ttl / 3});
  return observation{std::move(s)};
}

}  // namespace v1
}  // namespace tyer
