#include "engines/kit/engine_base.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace tyer::kit {

using namespace std::chrono_literals;
using seam::answer;
using seam::fate;
using seam::kept;
using seam::mode;
using seam::page;
using seam::target;

namespace {

struct : seam::events {
  void wake(const seam::id&) override {}
  void suspect(const seam::id&) override {}
  void gone(const seam::id&) override {}
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override {}
  void down(const failure&) override {}
} nobody;

}  // namespace

engine_base::engine_base(const seam::environment& e, const setting& s, std::shared_ptr<seam::inbox> box)
    : environment_(e), setting_(s), box_(std::move(box)), calls_(s.request_timeout) {}

void engine_base::open(seam::events& e) {
  events_ = &e;
  do_open();
}

seam::events& engine_base::runtime() const noexcept { return closed_ ? nobody : *events_; }

// ---- calls

template <class T, class F>
void engine_base::take(reply<T>&& back, std::optional<failure> objection, F start) {
  const auto c = calls_.begin<T>(now(), std::move(back));
  if (c->over()) return;
  if (objection) return calls_.fail(*c, *std::move(objection));
  start(c);
}

std::optional<failure> engine_base::unless(bool able, std::string_view cannot) const {
  if (able) return std::nullopt;
  return no(why::unsupported, errc::unsupported, std::string{setting_.scheme}.append(" has no ").append(cannot));
}

std::optional<failure> engine_base::objection(const seam::request& r) const {
  const auto able = can();
  if (r.what.how == mode::shared && !able.shared) return unless(false, "shared locks");
  if (r.what.how == mode::permit && !able.permits) return unless(false, "semaphores");
  return unless(r.lock_delay == 0ms || able.lock_delay, "lock_delay");
}

void engine_base::acquire(const seam::request& r, reply<answer> back) {
  take(std::move(back), objection(r), [&](const call_ptr<answer>& c) {
    c->not_after = c->sent + std::clamp<milliseconds>(r.not_after, 0ms, 24h);
    do_acquire(r, c);
  });
}

void engine_base::keep(std::span<const target> all, fate as, milliseconds ttl, reply<kept> back) {
  std::optional<failure> too_many;
  if (all.size() > can().keep_batch) too_many = no(why::over_limit, errc::over_limit, "too many to keep at once");
  take(std::move(back), std::move(too_many), [&](const call_ptr<kept>& c) { do_keep(all, as, ttl, c); });
}

void engine_base::confirm(const target& t, milliseconds ttl, reply<kept> back) {
  take(std::move(back), {}, [&](const call_ptr<kept>& c) { do_confirm(t, ttl, c); });
}

void engine_base::release(const target& t, bool clean, reply<fate> back) {
  take(std::move(back), {}, [&](const call_ptr<fate>& c) {
    c->gives_back = true;
    do_release(t, clean, c);
  });
}

void engine_base::convert(const target& t, mode to, milliseconds not_after, reply<answer> back) {
  take(std::move(back), unless(can().convert, "conversions"), [&](const call_ptr<answer>& c) {
    c->not_after = c->sent + std::clamp<milliseconds>(not_after, 0ms, 24h);
    do_convert(t, to, not_after, c);
  });
}

void engine_base::lift(const target& t, std::uint64_t part, reply<fate> back) {
  take(std::move(back), unless(can().lift, "tokens that can be lifted"),
       [&](const call_ptr<fate>& c) { do_lift(t, part, c); });
}

void engine_base::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  take(std::move(back), {}, [&](const call_ptr<std::uint32_t>& c) { do_ask(name, reason, c); });
}

void engine_base::evict(const target& t, std::string_view reason, reply<fate> back) {
  take(std::move(back), {}, [&](const call_ptr<fate>& c) { do_evict(t, reason, c); });
}

void engine_base::show(std::string_view name, reply<page> back) {
  take(std::move(back), {}, [&](const call_ptr<page>& c) { do_show(name, c); });
}

void engine_base::look(std::string_view name, bool waiters, reply<page> back) {
  take(std::move(back), {}, [&](const call_ptr<page>& c) { do_look(name, waiters, c); });
}

void engine_base::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<page> back) {
  take(std::move(back), {}, [&](const call_ptr<page>& c) { do_list(prefix, cursor, limit, c); });
}

void engine_base::diagnose(reply<std::vector<seam::finding>> back) {
  take(std::move(back), {}, [&](const call_ptr<std::vector<seam::finding>>& c) { do_diagnose(c); });
}

void engine_base::watch(std::string_view name, bool on) {
  if (!closed_) do_watch(name, on);
}

// ---- the loop

// False: it ran out of memory.
template <class F>
bool engine_base::survives(time_point at, F what) {
  try {
    calls_.step(at, what);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void engine_base::run(time_point until) {
  if (stumbled_) start_anew();
  stumbled_ = true;  // cleared if this step ends normally
  whole_ = true;
  auto all = receive(waiting_until(until));
  const auto t = now();
  for (auto& message : all) whole_ &= survives(t, [&] { message(told()); });
  whole_ &= survives(t, [&] { on_time(t); });
  if (calls_.due() <= t) whole_ &= survives(t, [&] { calls_.on_time(t); });
  if (closing_) whole_ &= survives(t, [&] { drain(t); });
  if (closing_) whole_ &= survives(t, [&] { finish_close(t); });
  stumbled_ = !whole_;
}

time_point engine_base::waiting_until(time_point until) const {
  until = std::min({until, calls_.due(), next_due()});
  return closing_ && !given_up_ ? std::min(until, drained_by_) : until;
}

seam::inbox::deadline engine_base::real(time_point until) const {
  using std::chrono::steady_clock;
  const auto t = now();
  if (until <= t) return steady_clock::time_point{};
  if (!environment_.clock->flows()) return std::nullopt;
  // The condition variable has no CLOCK_BOOTTIME, so the difference is used. Capped, since it may be "for ever".
  return steady_clock::now() + std::min<lease_clock::duration>(until - t, 1h);
}

// ---- the end

void engine_base::close(reply<seam::done> back) {
  closed_ = true;
  closing_ = std::move(back);
  drained_by_ = now() + setting_.drain_max;
  calls_.close();
  do_close();
  wake();
}

// First the calls that close() does not wait for, then all.
void engine_base::drain(time_point at) {
  if (given_up_) return;
  const bool everything = setting_.waits_for == draining::everything;
  if (!everything) calls_.give_up(setting_.waits_for == draining::nothing);
  const bool waits = everything ? !calls_.drained() : calls_.gives_back();
  if (waits && at < drained_by_) return;
  calls_.give_up(true);
  given_up_ = true;
}

// The reply to close() comes after the last other reply.
void engine_base::finish_close(time_point at) {
  if (!given_up_ || !calls_.drained() || !has_let_go(at)) return;
  std::exchange(closing_, nullptr)({at, seam::done{}});
}

void engine_base::fall_silent() {
  box_->shut();
  calls_.drop_all();
}

}  // namespace tyer::kit
