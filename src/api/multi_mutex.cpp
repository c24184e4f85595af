#include "api/std_face.hpp"
#include "primitives/multi.hpp"

#include <tyer/multi_mutex.hpp>

#include <algorithm>
#include <list>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {

class multi_state {
 public:
  primitives::locks locks;
  std::source_location made_at;
};

class multi_hold_state {
 public:
  explicit multi_hold_state(std::vector<hold> all) : parts(std::move(all)) {
    for (const hold& h : parts) on_loss_->emplace_back(h.lost(), tell{&lost});
  }
  // In a forked child a callback may seem to run for ever, on a thread that did not come along: let them lie.
  ~multi_hold_state() {
    if (birth.forked()) static_cast<void>(on_loss_.release());
  }

  const runtime::birth birth;
  std::vector<hold> parts;
  std::stop_source lost;

 private:
  struct tell {
    std::stop_source* lost;
    void operator()() const {
      const std::stop_source kept = *lost;  // whoever is told may destroy us meanwhile
      kept.request_stop();
    }
  };
  using callbacks = std::list<std::stop_callback<tell>>;

  std::unique_ptr<callbacks> on_loss_ = std::make_unique<callbacks>();  // the last member, so the first to go
};

struct multi_maker {
  static multi_hold make(std::vector<hold> parts) {
    return multi_hold{std::make_unique<multi_hold_state>(std::move(parts))};
  }
};

multi_hold acquire_or_tell(const multi_state& s, const primitives::patience& p, std::stop_token stop,
                           const std::source_location& where, failure& why) noexcept;

// The gate first, unlike the face of one lock: whoever waits for several has some of them already, and would keep them from
// others for as long as the one inside stays.
class multi_face : public basic_face<multi_hold> {
 public:
  using basic_face::basic_face;

  void lock(const multi_state& s) {
    const auto& home = *s.locks.front()->home;
    const deadline none{home, primitives::patience::for_ever()};
    for (;;) {
      if (auto f = primitives::unusable(home, true)) throw error(f);
      if (!gate_.try_close()) {
        wait_for_opening(none);
        continue;
      }
      failure why;
      multi_hold h = acquire_or_tell(s, primitives::patience::for_ever(), {}, s.made_at, why);
      if (h.valid()) {
        held_ = std::move(h);
        return;
      }
      open();
      if (why) throw error(why);
    }
  }
};

}  // namespace detail

// ---- multi_hold

multi_hold::multi_hold(std::unique_ptr<detail::multi_hold_state> s) noexcept : state_(std::move(s)) {}
multi_hold::multi_hold() noexcept = default;
multi_hold::multi_hold(multi_hold&&) noexcept = default;
multi_hold& multi_hold::operator=(multi_hold&&) noexcept = default;
multi_hold::~multi_hold() = default;

std::uint64_t multi_hold::token(std::string_view name) const {
  for (const hold& h : parts()) {
    if (h.name() == name) return h.token();
  }
  throw error({errc::not_held, "no lock of this name is among them"});
}

std::span<const hold> multi_hold::parts() const noexcept {
  return state_ ? std::span<const hold>{state_->parts} : std::span<const hold>{};
}

bool multi_hold::valid() const noexcept { return state_ && std::ranges::all_of(state_->parts, &hold::valid); }

lease_clock::time_point multi_hold::valid_until() const noexcept {
  if (!state_) return lease_clock::time_point::min();
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

std::stop_token multi_hold::lost() const noexcept {
  if (!state_) return {};
  return state_->birth.forked() ? state_->parts.front().lost() : state_->lost.get_token();
}

release_outcome multi_hold::release(failure& why) noexcept {
  why = {};
  const auto mine = std::move(state_);
  if (!mine) {
    why = errc::not_held;
    return release_outcome::already_gone;
  }
  auto worst = release_outcome::released;
  for (hold& h : mine->parts) {
    failure one;
    worst = std::max(worst, h.release(one));
    if (one && !why) why = std::move(one);
  }
  return worst;
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

std::shared_ptr<const detail::multi_state> make_state(const std::vector<multi_mutex::part>& parts,
                                                      const lock_options& options, const std::source_location& where) {
  if (parts.empty()) throw error({errc::invalid_option, "a multi_mutex needs at least one name"});
  std::vector<primitives::multi_part> named;
  for (const auto& p : parts) {
    auto lock = detail::access::make_lock(p.on, p.name, options, where);
    named.push_back({detail::access::state(p.on)->identity, std::move(lock)});
  }
  auto s = std::make_shared<detail::multi_state>();
  s->locks = primitives::in_order(std::move(named));
  s->made_at = where;
  return s;
}

std::vector<multi_mutex::part> on_one(const client& owner, const std::vector<std::string>& names) {
  std::vector<multi_mutex::part> parts;
  for (const auto& name : names) parts.push_back({owner, name});
  return parts;
}

}  // namespace

multi_mutex::multi_mutex(const client& owner, const std::vector<std::string>& names, lock_options options,
                         std::source_location where)
    : multi_mutex(on_one(owner, names), std::move(options), where) {}

multi_mutex::multi_mutex(const std::vector<part>& parts, lock_options options, std::source_location where)
    : state_(make_state(parts, options, where)),
      face_(std::make_unique<detail::multi_face>(*state_->locks.front()->home)) {}

multi_mutex::~multi_mutex() = default;

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
void multi_mutex::unlock() noexcept { face_->unlock(); }
const multi_hold& multi_mutex::held() const { return face_->held(); }

}  // namespace v1
}  // namespace tyer
