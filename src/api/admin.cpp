#include "api/acquiring.hpp"
#include "api/calling.hpp"
#include "api/describing.hpp"
#include "api/modes.hpp"
#include "api/observing.hpp"
#include "core/for_ever.hpp"
#include "core/name.hpp"
#include "core/owner.hpp"
#include "core/token.hpp"

#include <tyer/admin.hpp>

#include <algorithm>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

constexpr std::size_t hex_of_engine_id = 32;

severity severity_of(int level) noexcept {
  return static_cast<severity>(std::clamp(level, 0, static_cast<int>(severity::error)));
}

std::vector<lock_entry> describe(engine::page p, bool tokens) {
  std::vector<lock_entry> all;
  all.reserve(p.entries.size());
  for (auto& e : p.entries) all.push_back(detail::describe(std::move(e), tokens));
  return all;
}

// The entries of one name: holders first, then the waiters, numbered.
std::vector<lock_entry> describe_name(engine::page p, bool tokens) {
  auto all = describe(std::move(p), tokens);
  const auto queue = std::ranges::stable_partition(all, [](const lock_entry& e) { return !e.waiting; });
  std::uint32_t place = 0;
  for (lock_entry& e : queue) e.place = ++place;
  return all;
}

core::id id_in(const hold_id& of) {
  const auto text = of.text();
  std::string raw;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < std::min(text.size(), hex_of_engine_id); i += 2) {
    raw += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  }
  return core::id::from(raw);
}

// What must differ between two reads for `changed` to be called. A renewal is no change.
using gathering = std::vector<std::pair<core::id, std::pair<core::fate, engine::mode>>>;
gathering gathered(const engine::page& p) {
  gathering all;
  all.reserve(p.entries.size());
  for (const auto& e : p.entries) all.push_back({e.who, {e.what, e.how}});
  return all;
}

template <class T>
T or_throw(T answer, const failure& why) {
  if (why) throw error(why);
  return answer;
}

}  // namespace

admin::admin(const client& of) noexcept : state_(detail::access::state(of)) {}

std::vector<lock_entry> admin::show(std::string_view name) const {
  failure why;
  auto all = show(why, name);
  return or_throw(std::move(all), why);
}

std::vector<lock_entry> admin::show(failure& why, std::string_view name) const noexcept {
  return detail::or_tell<std::vector<lock_entry>>(why, [&]() -> std::vector<lock_entry> {
    why = state_ ? core::check_name(name) : failure{errc::closed};
    if (why) return {};
    auto shown = primitives::show_blocking(*state_->home, std::string{name});
    why = std::move(shown.error);
    return describe_name(std::move(shown.value), state_->home->can().token);
  });
}

lock_page admin::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit) const {
  failure why;
  auto page = list(why, prefix, cursor, limit);
  return or_throw(std::move(page), why);
}

lock_page admin::list(failure& why, std::string_view prefix, std::string_view cursor,
                      std::uint32_t limit) const noexcept {
  return detail::or_tell<lock_page>(why, [&]() -> lock_page {
    why = state_ ? failure{} : failure{errc::closed};
    if (why) return {};
    auto listed = primitives::list_blocking(*state_->home, std::string{prefix}, std::string{cursor},
                                            std::max(limit, std::uint32_t{1}));  // a page of none would never end
    why = std::move(listed.error);
    auto next = std::move(listed.value.cursor);
    return {describe(std::move(listed.value), state_->home->can().token), std::move(next)};
  });
}

bool admin::evict(const lock_entry& which, std::string_view reason) const {
  failure why;
  const bool was_there = evict(why, which, reason);
  return or_throw(was_there, why);
}

bool admin::evict(failure& why, const lock_entry& which, std::string_view reason) const noexcept {
  return detail::or_tell<bool>(why, [&] {
    why = state_ ? core::check_name(which.name) : failure{errc::closed};
    if (!why && !which.id) {
      why = {errc::unsupported,
             "a client of another library holds this lock: stop that client, or wait until its lease ends"};
    }
    if (why) return false;
    engine::entry target;
    target.who = id_in(which.id);
    target.name = which.name;
    target.how = detail::mode_of(which.mode);
    auto was = primitives::evict_blocking(*state_->home, std::move(target), std::string{reason});
    why = std::move(was.error);
    return !why && was.value != core::fate::gone;
  });
}

std::vector<finding> admin::diagnose() const {
  failure why;
  auto all = diagnose(why);
  return or_throw(std::move(all), why);
}

std::vector<finding> admin::diagnose(failure& why) const noexcept {
  return detail::or_tell<std::vector<finding>>(why, [&]() -> std::vector<finding> {
    why = state_ ? failure{} : failure{errc::closed};
    if (why) return {};
    auto found = primitives::diagnose_blocking(*state_->home);
    why = std::move(found.error);
    std::vector<finding> all;
    for (auto& f : found.value) all.push_back({severity_of(f.severity), std::move(f.what), std::move(f.advice)});
    return all;
  });
}

server_info admin::server() const {
  failure why;
  auto info = server(why);
  return or_throw(std::move(info), why);
}

server_info admin::server(failure& why) const noexcept {
  return detail::or_tell<server_info>(why, [&]() -> server_info {
    why = state_ ? primitives::unusable(*state_->home, true) : failure{errc::closed};
    if (!why) why = state_->home->wait_ready(state_->home->bounds().request_timeout);
    if (why) return {};
    auto told = state_->home->facts();
    server_info info{std::move(told.facts.id), std::move(told.facts.version), told.when, std::nullopt};
    if (told.facts.clock.count() != 0) info.clock = std::chrono::system_clock::time_point{told.facts.clock};
    return info;
  });
}

abilities admin::can() const {
  if (!state_) throw error(errc::closed);
  const auto c = state_->home->can();
  return {.queue = c.queue,
          .shared = c.shared,
          .permits = c.permits,
          .tokens = c.token,
          .push = c.push,
          .conversion = c.convert,
          .lock_delay = c.lock_delay,
          .owners = c.owners,
          .ttl_min = c.ttl_min};
}

std::string admin::address() const {
  if (!state_) throw error(errc::closed);
  return state_->address;
}

observation admin::watch_every(std::chrono::nanoseconds every, std::string_view name,
                               std::function<void(const std::vector<lock_entry>&)> changed, look_failed failed) const {
  failure why = state_ ? core::check_name(name) : failure{errc::closed};
  if (!why) why = primitives::unusable(*state_->home, false);
  if (!why && every <= std::chrono::nanoseconds::zero()) why = {errc::invalid_option, "every must be above zero"};
  if (!why && !changed) why = detail::no_function();
  if (why) throw error(why);
  auto look = [told = std::optional<gathering>{}, tokens = state_->home->can().token,
               f = std::make_shared<decltype(changed)>(std::move(changed))](
                  const engine::page& p, bool in_any_case) mutable -> std::function<void()> {
    auto now = gathered(p);
    if (!in_any_case && told && *told == now) return nullptr;
    std::function<void()> tell = [f, all = describe_name(p, tokens)] { (*f)(all); };
    told = std::move(now);
    return tell;
  };
  auto s = std::make_shared<detail::observation_state>(state_->home, std::move(look), std::move(failed));
  constexpr std::chrono::milliseconds apart{100};  // limits the reads when many waiters come and go
  s->start(std::string{name}, {.every = core::within_for_ever(every), .apart = apart});
  return observation{std::move(s)};
}

}  // namespace v1
}  // namespace tyer
