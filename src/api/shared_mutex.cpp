#include "api/converting.hpp"
#include "api/std_face.hpp"
#include "core/thread_number.hpp"

#include <tyer/shared_mutex.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

namespace detail {

// The local shared mutex behind the std interface, as the gate of std_face is for a mutex: closed from lock to unlock even
// if holds are lost meanwhile. A caller passes it after it has acquired the lock.
class shared_face {
 public:
  enum class side { exclusive, shared };

  // The gate of one side (readers or the writer), as acquire_and_enter() needs it.
  class entrance {
   public:
    entrance(shared_face& f, side s) : face_(f), side_(s) {}

    bool try_enter(hold& h) {
      const std::lock_guard lock{face_.mutex_};
      if (!face_.open_to(side_)) return false;
      if (side_ == side::shared) {
        face_.readers_.push_back(std::move(h));
      } else {
        face_.writing_ = std::move(h);
        face_.writer_ = core::this_thread();
      }
      return true;
    }
    void wait_for_opening(const deadline& limit) {
      std::unique_lock lock{face_.mutex_};
      primitives::sleepers::place mine{face_.sleepers_, limit.time()};
      const auto opened = [&, then = face_.left_] { return face_.open_to(side_) || face_.left_ != then; };
      if (opened()) return;
      mine.sleeps(limit.end());
      while (!face_.changed_.wait_until(lock, limit.look_again(), opened) && !limit.gives_up()) continue;
    }

   private:
    shared_face& face_;
    side side_;
  };

  // In a forked child nothing is released and nobody waits; a thread that exists only in the parent may have the mutex
  // locked.
  void leave(side s) noexcept {
    if (forked()) return;
    hold mine;  // released at the end, when the gate is open for the next owner
    {
      const std::lock_guard lock{mutex_};
      mine = s == side::shared ? take_worst_reader() : std::move(writing_);
      ++left_;
      changed_.notify_all();
      sleepers_.wake_all();
    }
  }

  // Readers are told apart only where the client notes who has what.
  void refuse_the_writer(const std::source_location& made_at) const {
    if (forked()) return;
    const std::lock_guard lock{mutex_};
    if (writing_ && writer_ == core::this_thread()) refuse_to_wait_for_itself(made_at);
  }
  void refuse_a_reader(const std::source_location& made_at) const {
    if (forked()) return;
    const std::lock_guard lock{mutex_};
    const auto own = [](const hold& h) { return runtime::noting::is_own(*access::state(h)); };
    if (std::ranges::any_of(readers_, own)) refuse_to_wait_for_itself(made_at);
  }

  const hold& held() const {
    if (forked()) throw error(errc::forked);
    const std::lock_guard lock{mutex_};
    if (!writing_) throw error(errc::not_held);
    return writing_;
  }

  bool forked() const noexcept { return birth_.forked(); }

 private:
  bool open_to(side s) const noexcept { return !writing_ && (s == side::shared || readers_.empty()); }

  // Each reader that leaves takes one hold. It need not be its own, but the readers that stay must keep the holds that are
  // valid longest.
  hold take_worst_reader() noexcept {
    if (readers_.empty()) return {};  // unlocked once too often: ignored, as for a mutex
    const auto worst = std::ranges::min_element(readers_, {}, &hold::remaining);
    note_as_own(*worst);
    hold mine = std::move(*worst);
    if (worst != readers_.end() - 1) *worst = std::move(readers_.back());
    readers_.pop_back();
    return mine;
  }

  // If the client notes who has what: this thread gives back its own.
  void note_as_own(hold& leaving) noexcept {
    auto& given = *access::state(leaving);
    if (!given.noted || runtime::noting::is_own(given)) return;
    const auto own = [](const hold& h) { return runtime::noting::is_own(*access::state(h)); };
    const auto mine = std::ranges::find_if(readers_, own);
    if (mine != readers_.end()) runtime::noting::exchange(given, *access::state(*mine));
  }

  const runtime::birth birth_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  primitives::sleepers sleepers_;
  std::uint64_t left_ = 0;  // how many have left so far
  hold writing_;
  std::uint64_t writer_ = 0;  // who has locked last
  std::vector<hold> readers_;
};

}  // namespace detail

namespace {

using detail::shared_face;
using primitives::patience;
using side = detail::shared_face::side;

bool enter(shared_face& face, const detail::lock_state& s, side which, const patience& p) {
  return detail::acquire_and_enter<hold>(s, p, shared_face::entrance{face, which});
}
void refuse_own_readers(const shared_face& face, const detail::lock_state& s, side which) {
  if (which == side::exclusive && detail::refuses_own_wait(*s.home)) face.refuse_a_reader(s.made_at);
}
void wait_to_enter(shared_face& face, const detail::lock_state& s, side which) {
  detail::refuse_the_unusable(*s.home);
  face.refuse_the_writer(s.made_at);
  refuse_own_readers(face, s, which);
  enter(face, s, which, patience::for_ever());
}
bool enter_within(shared_face& face, const detail::lock_state& s, side which, std::chrono::nanoseconds at_most) {
  const auto p = patience::within(at_most);
  if (p.waits && detail::refuses_own_wait(*s.home)) {
    face.refuse_the_writer(s.made_at);
    refuse_own_readers(face, s, which);
  }
  return detail::or_not_in_time([&] { return enter(face, s, which, p); });
}

bool convert(const detail::lock_state& to, hold& h, const patience& p, std::stop_token stop, failure& why) noexcept {
  const auto& s = detail::access::state(h);
  why = detail::not_of(to, s);
  if (why) return false;
  return detail::or_tell<bool>(why, [&] {
    auto c = primitives::convert_blocking(*to.home, s, to.what, p, std::move(stop));
    why = std::move(c.error);
    return c.changed;
  });
}

bool convert(const detail::lock_state& to, hold& h, const patience& p, std::stop_token stop) {
  failure why;
  const bool changed = convert(to, h, p, std::move(stop), why);
  if (why) throw error(why);
  return changed;
}

}  // namespace

shared_mutex::shared_mutex(const client& owner, std::string_view name, lock_options options, std::source_location where)
    : acquirable(detail::access::make_lock(owner, name, options, where)),
      shared_(detail::access::make_lock(owner, name, options, where, {engine::mode::shared})),
      // In a forked child, threads of the parent seem to wait at the gate for ever, and the destructor would wait for them:
      // there it is leaked.
      face_(new shared_face, [](shared_face* f) {
        if (!f->forked()) delete f;
      }) {}

bool shared_mutex::upgrade(hold& h, std::stop_token stop) const {
  return convert(*state_, h, patience::for_ever(), std::move(stop));
}
bool shared_mutex::upgrade(failure& why, hold& h, std::stop_token stop) const noexcept {
  return convert(*state_, h, patience::for_ever(), std::move(stop), why);
}
bool shared_mutex::try_upgrade(hold& h) const { return convert(*state_, h, patience::once(), {}); }
bool shared_mutex::try_upgrade(failure& why, hold& h) const noexcept {
  return convert(*state_, h, patience::once(), {}, why);
}
bool shared_mutex::upgrade_within(hold& h, std::chrono::nanoseconds at_most, std::stop_token stop) const {
  return convert(*state_, h, patience::within(at_most), std::move(stop));
}
bool shared_mutex::upgrade_within(failure& why, hold& h, std::chrono::nanoseconds at_most,
                                  std::stop_token stop) const noexcept {
  return convert(*state_, h, patience::within(at_most), std::move(stop), why);
}

void shared_mutex::downgrade(hold& h) const { convert(*shared_.state_, h, patience::for_ever(), {}); }
void shared_mutex::downgrade(failure& why, hold& h) const noexcept {
  convert(*shared_.state_, h, patience::for_ever(), {}, why);
}

// ---- the standard face

void shared_mutex::lock() { wait_to_enter(*face_, *state_, side::exclusive); }
bool shared_mutex::try_lock() { return enter(*face_, *state_, side::exclusive, patience::once()); }
bool shared_mutex::try_lock_within(std::chrono::nanoseconds at_most) {
  return enter_within(*face_, *state_, side::exclusive, at_most);
}
void shared_mutex::unlock() noexcept { face_->leave(side::exclusive); }

void shared_mutex::lock_shared() { wait_to_enter(*face_, *shared_.state_, side::shared); }
bool shared_mutex::try_lock_shared() { return enter(*face_, *shared_.state_, side::shared, patience::once()); }
bool shared_mutex::try_lock_shared_within(std::chrono::nanoseconds at_most) {
  return enter_within(*face_, *shared_.state_, side::shared, at_most);
}
void shared_mutex::unlock_shared() noexcept { face_->leave(side::shared); }

const hold& shared_mutex::held() const& { return face_->held(); }

}  // namespace v1
}  // namespace tyer
