#include "api/multi_parts.hpp"
#include "api/std_face.hpp"

#include <tyer/multi_mutex.hpp>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

namespace detail {

multi_hold acquire_or_tell(const multi_state& s, const primitives::patience& p, std::stop_token stop,
                           const std::source_location& where, failure& why) noexcept;

// Waits at the gate first, unlike basic_face of a single lock: a caller that waits for several locks already has some of
// them, and would keep them from others for as long as the current owner stays.
class multi_face : public basic_face<multi_hold> {
 public:
  using basic_face::basic_face;

  void lock(const multi_state& s) {
    refuse_the_unusable(*s.locks.front()->home);
    refuse_the_owner(s.made_at);
    acquire_and_enter(s, primitives::patience::for_ever());
  }

  bool try_lock_within(const multi_state& s, std::chrono::nanoseconds at_most) {
    const auto p = primitives::patience::within(at_most);
    if (p.waits && refuses_own_wait(*s.locks.front()->home)) refuse_the_owner(s.made_at);
    return or_not_in_time([&] { return p.waits ? acquire_and_enter(s, p) : try_lock(s); });
  }

 private:
  bool acquire_and_enter(const multi_state& s, const primitives::patience& p) {
    const auto& home = *s.locks.front()->home;
    for (const deadline limit{home, p}; !limit.over();) {
      if (auto f = primitives::unusable(home, true)) throw error(f);
      if (!gate_.try_close()) {
        wait_for_opening(limit);
        continue;
      }
      failure why;
      multi_hold h = acquire_or_tell(s, limit.left(), {}, s.made_at, why);
      if (h.valid()) {
        enter(std::move(h));
        return true;
      }
      open();
      if (why) throw error(why);
    }
    return false;
  }
};

}  // namespace detail

// ---- multi_hold

multi_hold::multi_hold(std::unique_ptr<detail::multi_hold_state> s) noexcept : state_(std::move(s)) {}
multi_hold::multi_hold() noexcept = default;
multi_hold::multi_hold(multi_hold&&) noexcept = default;
multi_hold& multi_hold::operator=(multi_hold&&) noexcept = default;
multi_hold::~multi_hold() = default;

namespace {

const hold& of_name(std::span<const hold> all, std::string_view name) {
  const auto at = std::ranges::find(all, name, [](const hold& h) { return h.name(); });
  if (at == all.end()) throw error({errc::not_held, "this multi_mutex has no lock of this name"});
  return *at;
}

}  // namespace

fence_pass multi_hold::fence(std::string_view name) const& { return of_name(parts(), name).fence(); }
std::uint64_t multi_hold::token(std::string_view name) const& { return of_name(parts(), name).token(); }

std::span<const hold> multi_hold::parts() const& noexcept {
  return state_ ? std::span<const hold>{state_->parts} : std::span<const hold>{};
}

bool multi_hold::valid() const noexcept { return state_ && std::ranges::all_of(state_->parts, &hold::valid); }

lease_clock::time_point multi_hold::valid_until() const noexcept {
  if (!state_) return lease_clock::time_point{};
  auto earliest = lease_clock::time_point::max();
  for (const hold& h : state_->parts) earliest = std::min(earliest, h.valid_until());
  return earliest;
}

lease_clock::duration multi_hold::remaining() const noexcept {
  if (!state_) return {};
  auto least = lease_clock::duration::max();
  for (const hold& h : state_->parts) least = std::min(least, h.remaining());
  return least;
}

std::stop_token multi_hold::lost() const& noexcept {
  if (!state_) return {};
  return state_->birth.forked() ? state_->parts.front().lost() : state_->lost();
}

std::stop_token multi_hold::revoked() const& {
  return state_ && !state_->birth.forked() ? state_->revoked() : std::stop_token{};
}

namespace {

std::vector<primitives::held_at> where_held(std::span<const hold> parts) {
  std::vector<primitives::held_at> all;
  all.reserve(parts.size());
  for (const hold& h : parts) {
    const auto& s = detail::access::state(h);
    all.push_back({s->home.lock(), s});
  }
  return all;
}

}  // namespace

// A known loss of one part outweighs unknown answers about others.
bool multi_hold::confirm(failure& why) const& noexcept {
  why = {};
  if (!state_) why = errc::not_held;
  if (state_ && state_->birth.forked()) why = errc::forked;
  if (why) return false;
  return detail::or_tell<bool>(why, [&] {
    auto answers = primitives::confirm_all_blocking(where_held(state_->parts));
    if (std::ranges::any_of(answers, [](const auto& a) { return !a.error && !a.stands; })) return false;
    for (auto& a : answers) {
      if (a.error && !why) why = std::move(a.error);
    }
    return !why && valid();  // the part confirmed first may have ended meanwhile
  });
}

bool multi_hold::confirm() const& {
  failure why;
  const bool stand = confirm(why);
  if (why) throw error(why);
  return stand;
}

release_outcome multi_hold::release(failure& why) noexcept {
  why = {};
  const auto mine = std::move(state_);
  if (!mine) {
    why = errc::not_held;
    return release_outcome::already_gone;
  }
  if (mine->birth.forked()) {
    why = errc::forked;
    return release_outcome::unknown;
  }
  try {
    const auto all = where_held(mine->parts);
    auto answers = primitives::release_all_blocking(all);
    for (hold& h : mine->parts) detail::access::take(h);
    auto worst = release_outcome::released;
    for (auto& a : answers) {
      worst = std::max(worst, a.outcome);
      if (a.error && !why) why = std::move(a.error);
    }
    return worst;
  } catch (const std::bad_alloc&) {  // the remaining parts are released when they are destroyed
    why = std::make_error_code(std::errc::not_enough_memory);
    return release_outcome::unknown;
  }
}

release_outcome multi_hold::release() {
  failure why;
  const auto outcome = release(why);
  if (detail::could_not_be_made(why)) throw error(why);
  return outcome;
}

// ---- multi_mutex

namespace {

using primitives::patience;

std::shared_ptr<const detail::multi_state> make_state(std::span<const multi_mutex::part> parts,
                                                      const lock_options& options, const std::source_location& where) {
  if (parts.empty()) throw error({errc::invalid_option, "a multi_mutex needs at least one name"});
  std::vector<primitives::multi_part> named;
  for (const auto& p : parts) {
    if (p.on == nullptr) throw error({errc::invalid_option, "a part of a multi_mutex needs a client"});
    auto lock = detail::access::make_lock(*p.on, p.name, options, where);
    named.push_back({detail::access::state(*p.on)->identity, std::move(lock)});
  }
  auto s = std::make_shared<detail::multi_state>();
  s->locks = primitives::in_order(std::move(named));
  s->made_at = where;
  return s;
}

template <class Names>
std::vector<multi_mutex::part> on_one(const client& owner, const Names& names) {
  std::vector<multi_mutex::part> parts;
  parts.reserve(names.size());
  for (const auto& name : names) parts.emplace_back(owner, name);
  return parts;
}

}  // namespace

multi_mutex::multi_mutex(const client& owner, std::initializer_list<std::string_view> names, lock_options options,
                         std::source_location where)
    : multi_mutex(std::span<const part>{on_one(owner, names)}, std::move(options), where) {}

multi_mutex::multi_mutex(const client& owner, std::span<const std::string> names, lock_options options,
                         std::source_location where)
    : multi_mutex(std::span<const part>{on_one(owner, names)}, std::move(options), where) {}

multi_mutex::multi_mutex(const client& owner, std::span<const std::string_view> names, lock_options options,
                         std::source_location where)
    : multi_mutex(std::span<const part>{on_one(owner, names)}, std::move(options), where) {}

multi_mutex::multi_mutex(std::initializer_list<part> parts, lock_options options, std::source_location where)
    : multi_mutex(std::span<const part>{parts.begin(), parts.size()}, std::move(options), where) {}

multi_mutex::multi_mutex(std::span<const part> parts, lock_options options, std::source_location where)
    : state_(make_state(parts, options, where)),
      face_(std::make_shared<detail::multi_face>(*state_->locks.front()->home)) {}

std::size_t multi_mutex::size() const noexcept { return state_->locks.size(); }

namespace detail {

multi_hold acquire_or_tell(const multi_state& s, const patience& p, std::stop_token stop,
                           const std::source_location& where, failure& why) noexcept {
  return or_tell<multi_hold>(why, [&] {
    auto got = primitives::acquire_all(s.locks, p, std::move(stop), where);
    why = std::move(got.error);
    if (got.holds.empty()) return multi_hold{};
    std::vector<hold> parts;
    parts.reserve(s.locks.size());
    got.holds.take_out(
        [&](const auto& home, runtime::hold_ptr h) { parts.push_back(access::make_hold(home, std::move(h))); });
    return multi_maker::make(std::move(parts));
  });
}

multi_hold acquire_or_throw(const multi_state& s, const patience& p, std::stop_token stop,
                            const std::source_location& where) {
  failure why;
  auto h = acquire_or_tell(s, p, std::move(stop), where, why);
  if (why) throw error(why);
  return h;
}

}  // namespace detail

multi_hold multi_mutex::acquire(std::stop_token stop, std::source_location where) const {
  return detail::acquire_or_throw(*state_, patience::for_ever(), std::move(stop), where);
}
multi_hold multi_mutex::acquire(failure& why, std::stop_token stop, std::source_location where) const noexcept {
  return detail::acquire_or_tell(*state_, patience::for_ever(), std::move(stop), where, why);
}
multi_hold multi_mutex::try_acquire(std::source_location where) const {
  return detail::acquire_or_throw(*state_, patience::once(), {}, where);
}
multi_hold multi_mutex::try_acquire(failure& why, std::source_location where) const noexcept {
  return detail::acquire_or_tell(*state_, patience::once(), {}, where, why);
}
multi_hold multi_mutex::acquire_within(std::chrono::nanoseconds at_most, std::stop_token stop,
                                       std::source_location where) const {
  return detail::acquire_or_throw(*state_, patience::within(at_most), std::move(stop), where);
}
multi_hold multi_mutex::acquire_within(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop,
                                       std::source_location where) const noexcept {
  return detail::acquire_or_tell(*state_, patience::within(at_most), std::move(stop), where, why);
}

void multi_mutex::lock() { face_->lock(*state_); }
bool multi_mutex::try_lock() { return face_->try_lock(*state_); }
bool multi_mutex::try_lock_within(std::chrono::nanoseconds at_most) { return face_->try_lock_within(*state_, at_most); }
void multi_mutex::unlock() noexcept { face_->unlock(); }
const multi_hold& multi_mutex::held() const& { return face_->held(); }

}  // namespace v1
}  // namespace tyer
