#include "sim/etcd/caller.hpp"

#include "sim/etcd/person.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim::etcd {

using engine::why;

template <class F>
void caller::later(duration d, F f) {
  home_->later(d, [this, turn = turn_, f = std::move(f)] {
    if (turn == turn_) f();
  });
}

void caller::start(person& p, dice d) {
  home_ = &p;
  dice_ = d;
  rest();
}

void caller::die() { close(home_->now()); }

std::string caller::words() const {
  static constexpr const char* phases[] = {"rests", "asks", "waits", "holds", "leaves"};
  return std::string{phases[static_cast<int>(is_)]} + (calling_ ? ", calling" : "") + ", id " +
         std::to_string(who_.serial()) + " of client " + std::to_string(home_->index()) + " for " +
         std::string{names[name_]};
}

void caller::rest() {
  is_ = phase::resting;
  ++turn_;
  if (!home_->around().draining) later(dice_.skewed(1ms, 400ms), [this] { want(); });
}

void caller::want() {
  if (home_->around().draining) return;
  who_ = home_->next_id();
  name_ = dice_.below(names.size());
  how_ = name_ == permit_name
             ? engine::mode::permit
             : (name_ == shared_name && dice_.chance(600) ? engine::mode::shared : engine::mode::exclusive);
  take_ = how_ == engine::mode::permit ? static_cast<std::uint32_t>(1 + dice_.below(2)) : 1;
  ttl_ = ttls[dice_.below(ttls.size())];
  waiter_ttl_ = scenario::waiter_ttl(ttl_);
  queues_ = dice_.chance(800);
  floor_ = home_->around().checks.floor(name_, how_);
  gives_up_ = home_->now() + dice_.skewed(50ms, 20s);
  tries_ = 0;
  is_ = phase::asking;
  ask();
}

// --- asking and waiting ---

void caller::ask() {
  if (calling_) {
    again_ = true;
    return;
  }
  again_ = false;
  calling_ = true;
  engine::request r;
  r.what = target();
  r.take = take_;
  r.capacity = how_ == engine::mode::permit ? permits : 1;
  r.ttl = ttl_;
  r.waiter_ttl = waiter_ttl_;
  r.not_after = home_->around().request_timeout;
  r.enqueue = queues_;
  home_->seam().acquire(r, [this](engine::outcome<engine::answer>&& o) { on_answer(std::move(o)); });
}

void caller::on_answer(engine::outcome<engine::answer>&& o) {
  calling_ = false;
  if (is_ == phase::leaving) return give_back();
  if (const auto* f = std::get_if<engine::failure>(&o.result)) {
    const bool may_try = f->kind == why::unknown || f->kind == why::not_sent;
    if (!may_try) home_->around().time.broken("live", "refused: " + f->words + ": " + words());
    if (!may_try || home_->now() >= gives_up_) return leave();
    return later(dice_.between(10ms, 200ms), [this] {
      if (is_ == phase::asking || is_ == phase::waiting) ask();
    });
  }
  const auto& a = std::get<engine::answer>(o.result);
  if (const auto* g = std::get_if<engine::granted>(&a)) return on_granted(*g, o.sent);
  if (const auto* q = std::get_if<engine::queued>(&a)) return on_queued(*q);
  rest();
}

void caller::on_granted(const engine::granted& g, moment sent) {
  if (is_ == phase::holding) {
    valid_until_ = std::max(valid_until_, sent + g.ttl);
    return;
  }
  valid_until_ = sent + g.ttl;
  if (valid_until_ <= home_->now()) return leave();
  is_ = phase::holding;
  open_ = true;
  window_ = home_->around().checks.opened({name_, home_->index(), who_, how_, take_, g.slots, g.part}, floor_, 0);
  home_->around().checks.write(window_, true);
  upgrading_ = false;
  keep_later(ttl_ / 3);
  later(valid_until_ - home_->now(), [this] { ring(); });
  if (name_ == shared_name && dice_.chance(400)) later(dice_.skewed(1ms, ttl_), [this] { convert(); });
  later(dice_.skewed(1ms, 2 * ttl_), [this] {
    if (is_ == phase::holding) leave();
  });
}

void caller::on_queued(const engine::queued& q) {
  const bool is_new = is_ != phase::waiting;
  is_ = phase::waiting;
  later(q.look_again, [this] {
    if (is_ == phase::waiting) ask();
  });
  if (again_) ask();
  if (!is_new) return;
  keep_later(waiter_ttl_ / 3);
  later(std::max<duration>(gives_up_ - home_->now(), 1ms), [this] {
    if (is_ == phase::waiting || is_ == phase::asking) leave();
  });
}

void caller::on_wake() {
  if (is_ == phase::holding && upgrading_) convert();
  if (is_ == phase::asking) again_ = true;
  if (is_ != phase::waiting) return;
  if (home_->around().bug.client == slip::believes_pushes && how_ == engine::mode::exclusive) {
    return on_granted({.part = ++home_->made_up_part, .ttl = ttl_}, home_->now());
  }
  ask();
}

// --- keeping ---

void caller::keep_later(duration d) {
  const auto chain = ++keeps_;
  later(d, [this, chain] {
    if (chain == keeps_) keep();
  });
}

void caller::on_suspect() { keep(); }

void caller::keep() {
  if (is_ != phase::holding && is_ != phase::waiting) return;
  if (keeping_) return keep_later(10ms);
  keeping_ = true;
  const fate as = is_ == phase::holding ? fate::holding : fate::waiting;
  const auto t = target();
  home_->seam().keep({&t, 1}, as, as == fate::holding ? ttl_ : waiter_ttl_,
                     [this, as, turn = turn_](engine::outcome<engine::kept>&& o) {
                       keeping_ = false;
                       if (turn == turn_) on_kept(as, std::move(o));
                     });
}

void caller::on_kept(fate as, engine::outcome<engine::kept>&& o) {
  const auto became = is_ == phase::holding ? fate::holding : fate::waiting;
  if ((is_ != phase::holding && is_ != phase::waiting) || became != as) return keep_later(20ms);
  if (home_->around().bug.client == slip::takes_failure_for_kept) {
    if (std::holds_alternative<engine::failure>(o.result)) o.result = engine::kept{{as}, ttl_};
  }
  const auto* kept = std::get_if<engine::kept>(&o.result);
  if (kept == nullptr) return keep_later(dice_.between(10ms, 100ms));
  const fate is = kept->fates.front();
  if (as == fate::waiting) {
    if (is != fate::waiting) ask();
    return keep_later(waiter_ttl_ / 3);
  }
  if (is != fate::holding) return leave();
  if (home_->now() < valid_until_) valid_until_ = std::max(valid_until_, o.sent + kept->ttl);
  later(std::max<duration>(valid_until_ - home_->now(), 1us), [this] { ring(); });
  keep_later(ttl_ / 3);
}

void caller::ring() {
  if (is_ != phase::holding || home_->now() < valid_until_) return;
  close(valid_until_);
  leave();
}

void caller::on_gone() {
  if (is_ == phase::waiting) return ask();
  if (is_ == phase::holding) leave();
}

// --- converting ---

// Whoever is to share from now on only reads from now on, whatever the answer. An upgrade that waits is woken.
void caller::convert() {
  if (is_ != phase::holding || calling_) return;
  if (home_->now() >= valid_until_) return ring();  // its loop had stood still
  const auto to = how_ == engine::mode::exclusive ? engine::mode::shared : engine::mode::exclusive;
  auto& checks = home_->around().checks;
  if (to == engine::mode::shared) window_ = checks.weakened(window_);
  calling_ = true;
  home_->seam().convert(target(), to, home_->around().request_timeout,
                        [this, to, least = checks.floor(name_, to)](engine::outcome<engine::answer>&& o) {
                          on_converted(to, least, std::move(o));
                        });
}

void caller::on_converted(engine::mode to, const floors& least, engine::outcome<engine::answer>&& o) {
  calling_ = false;
  if (is_ == phase::leaving) return give_back();
  const auto* a = std::get_if<engine::answer>(&o.result);
  if (a == nullptr || std::holds_alternative<engine::busy>(*a)) return leave();
  if (std::holds_alternative<engine::queued>(*a)) {
    upgrading_ = true;
    return;
  }
  upgrading_ = false;
  how_ = to;
  if (home_->now() >= valid_until_) return ring();
  window_ = home_->around().checks.converted(window_, to, std::get<engine::granted>(*a).part, least);
}

// --- giving back ---

void caller::close(moment when) {
  if (!std::exchange(open_, false)) return;
  home_->around().checks.closed(window_, std::min(when, valid_until_));
}

void caller::leave() {
  close(home_->now());
  is_ = phase::leaving;
  if (!calling_) give_back();
}

void caller::give_back() {
  calling_ = true;
  home_->seam().release(target(), true, [this](engine::outcome<fate>&& o) {
    calling_ = false;
    if (std::holds_alternative<fate>(o.result) || ++tries_ > 30) return rest();
    later(dice_.between(20ms, 200ms), [this] { give_back(); });
  });
}

}  // namespace tyer::sim::etcd
