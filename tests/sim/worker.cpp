#include "sim/worker.hpp"

#include "sim/process.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim {

using phase = tyer::detail::hold_state::phase;

template <class F>
void worker::later(duration d, F f) {
  home_->later(d, [this, turn = turn_, f = std::move(f)] {
    if (turn == turn_) f();
  });
}

void worker::start(process& p, std::size_t number, dice d) {
  home_ = &p;
  number_ = number;
  dice_ = d;
  careful_ = dice_.chance(500);
  rest();
}

void worker::die() {
  if (!hold_) return;
  close_window(home_->around().time.now());
  if (const auto delay = home_->around().terms.of[name_].lock_delay; !over_ && delay > 0ms) {
    home_->around().checks.lapsed(window_, delay);
  }
}

void worker::rest() {
  const auto d = dice_.skewed(2ms, 1s);
  home_->later(d, [this] {
    if (!home_->around().draining) want();
  });
}

// ---- getting it

std::shared_ptr<const runtime::spec> worker::choose() {
  name_ = dice_.below(names.size());
  ttl_ = dice_.chance(700) ? home_->index() % ttls.size() : dice_.below(ttls.size());
  const bool other = name_ == shared_name   ? dice_.chance(home_->around().terms.readers_permille)
                     : name_ == permit_name ? dice_.chance(300)
                                            : false;
  return home_->what(name_, ttl_, other);
}

void worker::want() {
  ++turn_;
  auto w = std::make_shared<runtime::acquisition>();
  w->what = choose();
  floor_ = home_->around().checks.floor(name_, w->what->how);
  w->waits = !dice_.chance(150);
  if (w->waits && dice_.chance(300)) w->limit = home_->clock().now() + dice_.skewed(1ms, 6s);
  const bool patient = w->waits && w->limit == moment::max();
  w->done = [this, patient](tyer::failure f, runtime::hold_ptr h) {
    if (!f && !h && patient)
      home_->around().time.broken("live", "a caller that waits for ever was told that the lock is busy");
    on_answer(std::move(f), std::move(h));
  };
  if (dice_.chance(100)) {
    later(dice_.chance(500) ? dice_.between(10us, 2ms) : dice_.skewed(1ms, 3s), [this] {
      if (acquisition_) home_->coordinator().cancel(std::shared_ptr{acquisition_}, errc::cancelled);
    });
  }
  if (dice_.chance(30)) {
    later(dice_.skewed(1ms, 1s), [this] {
      if (acquisition_)
        home_->coordinator().ask_engine(runtime::queries::ask(std::string{names[name_]}, "sim"), [](auto&&) {});
    });
  }
  home_->around().time.note("w wants", home_->index(), number_, name_, w->what->ttl.count());
  acquisition_ = w;
  home_->coordinator().want(std::move(w));
}

void worker::on_answer(tyer::failure f, runtime::hold_ptr h) {
  auto& all = home_->around();
  acquisition_.reset();
  if (!h) {
    all.time.note("w has not", home_->index(), number_, name_, static_cast<std::uint64_t>(f.code.value()));
    return rest();
  }
  hold_ = std::move(h);
  over_ = due_back_ = false;
  since_ = home_->clock().now();
  changed_at_ = all.time.now();
  const auto& what = hold_->what();
  window_ =
      all.checks.opened({name_, home_->index(), hold_->who(), hold_->how(), what.take, hold_->slots(), hold_->token()},
                        floor_, all.terms.handoffs[ttl_]);
  all.time.note("w has", home_->index(), number_, name_, hold_->token());
  if (hold_->valid_until() - since_ < lease::least_useful(what.ttl)) {
    all.time.broken("leased", "a hold was given with too little left of it, client " + std::to_string(home_->index()));
  }
  duration held = all.draining ? 1ms : dice_.skewed(100us, 300ms);
  if (!all.draining && dice_.chance(40)) held = dice_.between(500ms, 7s);
  plan(held);
}

void worker::plan(duration held) {
  for (auto writes = dice_.below(3); writes > 0; --writes) {
    later(dice_.between(0ms, held), [this] { write(); });
  }
  if (name_ == shared_name) {
    hasty_ = dice_.chance(300);
    for (auto changes = dice_.chance(300) ? 1 + dice_.below(3) : 0; changes > 0; --changes) {
      later(dice_.between(0ms, held), [this] { convert(); });
    }
  }
  give_back_soon(held);
}

bool worker::takes_over(const runtime::hold_ptr& h) {
  if (!acquisition_ || acquisition_->what->name != h->what().name || acquisition_->what->how != h->how()) return false;
  acquisition_->done = [this, h](tyer::failure, runtime::hold_ptr) { on_answer({}, h); };
  home_->coordinator().cancel(std::shared_ptr{acquisition_}, errc::cancelled);
  return true;
}

// ---- having it

void worker::write() {
  if (!hold_ || change_) return;
  const bool valid = hold_->valid(home_->clock().now());
  if (careful_ && !valid) return;
  auto& all = home_->around();
  const bool in = all.checks.write(window_, valid);
  all.time.note(in ? "w writes" : "w may not write", home_->index(), number_, name_, hold_->token());
}

void worker::convert() {
  if (!hold_ || change_ || over_) return;
  auto& all = home_->around();
  const bool up = hold_->how() == mode::shared;
  auto c = std::make_shared<runtime::change>();
  c->of = hold_;
  c->to = home_->what(name_, ttl_, !up);
  if (up) {
    c->waits = !dice_.chance(200);
    if (c->waits && dice_.chance(300)) c->limit = home_->clock().now() + dice_.skewed(1ms, 3s);
    if (dice_.chance(200)) {
      later(dice_.skewed(10us, 1s), [this, c] { home_->coordinator().cancel(c, errc::cancelled); });
    }
  } else if (hold_->valid(home_->clock().now())) {
    window_ = all.checks.weakened(window_);
  }
  c->done = [this, to = c->to->how, turn = turn_](tyer::failure f, bool changed) {
    change_.reset();
    if (turn == turn_) on_converted(to, std::move(f), changed);
  };
  floor_ = all.checks.floor(name_, c->to->how);
  all.time.note(up ? "w upgrades" : "w downgrades", home_->index(), number_, hold_->token());
  change_ = c;
  home_->coordinator().convert(std::move(c));
}

void worker::on_converted(mode to, tyer::failure f, bool changed) {
  if (!hold_) return;
  auto& all = home_->around();
  changed_at_ = all.time.now();
  all.time.note(changed ? "w converted" : "w not converted", home_->index(), number_, hold_->token(),
                static_cast<std::uint64_t>(f.code.value()));
  if (changed && hold_->valid(home_->clock().now()))
    window_ = all.checks.converted(window_, to, hold_->token(), floor_);
  if (f.code == errc::lost && dice_.chance(300)) return give_back();  // from inside the coordinator's call
  if (!changed && !over_ && !due_back_ && dice_.chance(100)) {        // goes on reading, for long
    ++turn_;
    return give_back_soon(dice_.between(2s, 8s));
  }
  if (due_back_) give_back_soon(dice_.between(10us, 50ms));
}

void worker::on_asked(const runtime::hold_ptr& h) {
  if (hold_ == h && dice_.chance(700)) give_back_soon(dice_.between(10us, 50ms));
}

void worker::on_lost(const runtime::hold_ptr& h, bool by_proof) {
  if (hold_ != h) return;
  close_window(by_proof ? home_->around().time.now() : moment::max());
  over_ = true;
  if (const auto delay = home_->around().terms.of[name_].lock_delay; delay > 0ms) {
    home_->around().checks.lapsed(window_, delay);
  }
  if (careful_) {
    give_back_soon(dice_.between(0ms, 20ms));
  } else if (dice_.chance(300)) {  // does not listen at all, and keeps for long what it has not
    ++turn_;
    give_back_soon(dice_.between(5s, 20s));
  }
}

// ---- giving it back

void worker::close_window(moment at_most) {
  check_length();
  auto& all = home_->around();
  all.checks.closed(window_, std::min(at_most, home_->clock().truth_of(hold_->valid_until())));
}

void worker::check_length() const {
  const auto limit = home_->around().terms.of[name_].max_hold;
  if (limit > 0ms && hold_->valid_until() > since_ + limit) {
    home_->around().time.broken("leased", "a hold is valid for longer than its max_hold");
  }
}

void worker::give_back_soon(duration d) {
  later(d, [this] {
    if (change_ && !hasty_ && !over_) {
      due_back_ = true;
    } else {
      give_back();
    }
  });
}

void worker::give_back() {
  if (!hold_) return;
  auto& all = home_->around();
  close_window(all.time.now());
  if (over_) {
    all.checks.acknowledged(window_);
  } else if (const auto least = all.terms.of[name_].min_hold; home_->clock().now() < since_ + least) {
    // Kept from others until then, or as long as the engine was last told.
    const auto until = std::min(since_ + least, hold_->valid_until());
    if (hold_->where() == phase::held) all.checks.rests(window_, home_->clock().truth_of(until));
  }
  all.time.note("w gives back", home_->index(), number_, name_, hold_->token());
  ++turn_;
  const auto h = std::exchange(hold_, nullptr);
  if (dice_.chance(500)) {
    home_->give_back(*this, h, nullptr);
    return rest();
  }
  releasing_ = true;
  home_->give_back(*this, h, [this](tyer::failure, release_outcome o) {
    home_->around().time.note("w gave back", home_->index(), number_, name_, static_cast<std::uint64_t>(o));
    releasing_ = false;
    rest();
  });
}

// ---- for the checks

bool worker::upgrades(std::size_t name) const noexcept {
  return name == name_ && change_ && change_->waits && change_->to->how == mode::exclusive;
}

bool worker::only_reads(const id& who, moment since) const noexcept {
  return hold_ && hold_->who() == who && hold_->how() == mode::shared && hold_->where() == phase::held && !change_ &&
         changed_at_ < since;
}

void worker::look() const {
  const auto now = home_->clock().now();
  auto& time = home_->around().time;
  if (acquisition_ && acquisition_->limit != moment::max() && now > acquisition_->limit + 250ms) {
    time.broken("live", "a caller waits for longer than it said, client " + std::to_string(home_->index()));
  }
  if (change_ && change_->limit != moment::max() && now > change_->limit + 250ms) {
    time.broken("live", "an upgrade waits for longer than it said, client " + std::to_string(home_->index()));
  }
  if (hold_ && hold_->where() == phase::held && now >= hold_->valid_until()) {
    time.broken("live", "a hold is over, and its owner was not told, client " + std::to_string(home_->index()));
  }
}

}  // namespace tyer::sim
