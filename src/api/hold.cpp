#include "api/acquiring.hpp"
#include "api/hold_ids.hpp"
#include "api/modes.hpp"

#include <tyer/hold.hpp>

#include <memory>
#include <new>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

// The clock of the hold's client. If the client is gone: the real clock.
lease_clock::time_point now_of(const detail::hold_state& s) noexcept {
  const auto home = s.home.lock();
  return home ? home->time().now() : lease_clock::now();
}

// The hold, for token(), id() and fence().
const detail::hold_state& shown(const std::shared_ptr<detail::hold_state>& s) {
  if (!s) throw error(errc::not_held);
  if (s->forked()) throw error(errc::forked);
  return *s;
}

error no_tokens() {
  return error({errc::unsupported, "this engine has no fencing tokens: only the lease protects your writes"});
}

// For a hold inherited through fork. Not the hold's own stop_source: another thread of the parent may have been using it at
// the fork.
std::stop_token lost_by_fork() noexcept {
  try {
    static const auto* const gone = [] {  // never destroyed, since its last user is not known
      auto s = std::make_unique<std::stop_source>();
      s->request_stop();
      return s.release();
    }();
    return gone->get_token();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

void let_go(std::shared_ptr<detail::hold_state> s) noexcept {
  if (!s) return;
  if (const auto home = s->home.lock()) primitives::give_back_quietly(*home, std::move(s));
}

}  // namespace

hold::~hold() { let_go(std::move(state_)); }

hold& hold::operator=(hold&& other) noexcept {
  if (this != &other) {
    let_go(std::move(state_));
    state_ = std::move(other.state_);
  }
  return *this;
}

std::uint64_t hold::token() const& {
  const auto token = shown(state_).token();
  if (token == 0) throw no_tokens();
  return token;
}

hold_id hold::id() const {
  const auto& s = shown(state_);
  return detail::id_of(s.who(), s.handoffs());
}

fence_pass hold::fence() const& {
  const auto& s = shown(state_);
  const auto [how, token] = s.standing();
  if (token == 0) throw no_tokens();
  return {token, id(), detail::mode_of(how)};
}

bool hold::valid() const noexcept { return state_ && state_->valid(now_of(*state_)); }

lease_clock::time_point hold::valid_until() const noexcept {
  return state_ && !state_->forked() ? state_->valid_until() : lease_clock::time_point{};
}

lease_clock::duration hold::remaining() const noexcept {
  if (!state_ || state_->where() != detail::hold_state::phase::held || state_->forked())
    return lease_clock::duration::zero();
  return std::max(state_->valid_until() - now_of(*state_), lease_clock::duration::zero());
}

std::stop_token hold::lost() const& noexcept {
  if (!state_) return {};
  return state_->forked() ? lost_by_fork() : state_->lost();
}

std::stop_token hold::revoked() const& { return state_ && !state_->forked() ? state_->revoked() : std::stop_token{}; }

std::span<const std::uint32_t> hold::slot_numbers() const& noexcept {
  return state_ ? std::span<const std::uint32_t>{state_->slots()} : std::span<const std::uint32_t>{};
}

std::uint32_t hold::slot() const& {
  if (!state_ || state_->slots().empty()) throw error(errc::not_held);
  return state_->slots().front();
}

lock_mode hold::mode() const noexcept { return state_ ? detail::mode_of(state_->how()) : lock_mode::exclusive; }

std::string_view hold::name() const& noexcept { return state_ ? std::string_view{state_->what().name} : ""; }

bool hold::confirm(failure& why) const& noexcept {
  why = {};
  return detail::or_tell<bool>(why, [&] {
    if (!state_) why = errc::not_held;
    if (state_ && state_->forked()) why = errc::forked;
    const auto home = why ? nullptr : state_->home.lock();
    if (!home || home->closed()) return false;  // the client was closed, and has given it back
    auto answer = primitives::confirm_blocking(*home, state_);
    why = std::move(answer.error);
    return answer.stands;
  });
}

bool hold::confirm() const& {
  failure why;
  const bool stands = confirm(why);
  if (why) throw error(why);
  return stands;
}

release_outcome hold::release(failure& why) noexcept {
  why = {};
  const auto s = std::exchange(state_, nullptr);
  if (!s) {
    why = errc::not_held;
    return release_outcome::already_gone;
  }
  if (s->forked()) {
    why = errc::forked;
    return release_outcome::unknown;
  }
  const auto home = s->home.lock();
  if (!home) return release_outcome::already_gone;  // the client was closed, and has given it back
  try {
    auto r = primitives::release_blocking(*home, s);
    why = std::move(r.error);
    return r.outcome;
  } catch (const std::bad_alloc&) {
    s->abandon();  // the coordinator releases it instead of the next renewal
    why = std::make_error_code(std::errc::not_enough_memory);
    return release_outcome::unknown;
  }
}

release_outcome hold::release() {
  failure why;
  const auto outcome = release(why);
  if (detail::could_not_be_made(why)) throw error(why);
  return outcome;
}

}  // namespace v1
}  // namespace tyer
