#include "sim/worker.hpp"

#include "sim/process.hpp"

#include <utility>

namespace tyer::sim {

void worker::start(process& p, std::size_t number, dice d) {
  home_ = &p;
  number_ = number;
  dice_ = d;
  careful_ = dice_.chance(500);
  rest();
}

void worker::die() {
  if (hold_) close_window(home_->around().time.now());
}

void worker::rest() {
  const auto d = dice_.skewed(2ms, 1s);
  home_->later(d, [this] {
    if (!home_->around().draining) want();
  });
}

void worker::want() {
  ++turn_;
  name_ = dice_.below(names.size());
  const auto how = name_ == shared_name && dice_.chance(600) ? mode::shared : mode::exclusive;
  floor_ = home_->around().checks.floor(name_, how);
  auto w = std::make_shared<runtime::wish>();
  w->what = home_->what(name_, how, dice_.chance(700) ? home_->index() % ttls.size() : dice_.below(ttls.size()));
  w->waits = !dice_.chance(150);
  if (w->waits && dice_.chance(300)) w->limit = home_->clock().now() + dice_.skewed(1ms, 6s);
  const bool patient = w->waits && w->limit == moment::max();
  w->done = [this, patient](tyer::failure f, runtime::hold_ptr h) {
    if (!f && !h && patient)
      home_->around().time.broken("live", "a caller that waits for ever was told that the lock is busy");
    on_answer(std::move(f), std::move(h));
  };
  if (dice_.chance(100)) {
    home_->later(dice_.chance(500) ? dice_.between(10us, 2ms) : dice_.skewed(1ms, 3s), [this, turn = turn_] {
      if (turn == turn_ && wish_) home_->desk().cancel(std::shared_ptr{wish_}, errc::cancelled);
    });
  }
  home_->around().time.note("w wants", home_->index(), number_, name_, w->what->ttl.count());
  wish_ = w;
  home_->desk().want(std::move(w));
}

void worker::on_answer(tyer::failure f, runtime::hold_ptr h) {
  auto& all = home_->around();
  wish_.reset();
  if (!h) {
    all.time.note("w has not", home_->index(), number_, name_, static_cast<std::uint64_t>(f.code.value()));
    return rest();
  }
  hold_ = std::move(h);
  window_ = all.checks.opened(name_, hold_->what().how, hold_->token(), floor_, home_->index());
  all.time.note("w has", home_->index(), number_, name_, hold_->token());

  duration held = all.draining ? 1ms : dice_.skewed(100us, 300ms);
  if (!all.draining && dice_.chance(40)) held = dice_.between(500ms, 7s);
  for (auto writes = dice_.below(3); writes > 0; --writes) {
    home_->later(dice_.between(0ms, held), [this, turn = turn_] {
      if (turn == turn_) write();
    });
  }
  home_->later(held, [this, turn = turn_] {
    if (turn == turn_) give_back();
  });
}

void worker::write() {
  if (!hold_) return;
  const bool valid = hold_->valid(home_->clock().now());
  if (careful_ && !valid) return;
  auto& all = home_->around();
  const bool in = all.checks.write(window_, valid);
  all.time.note(in ? "w writes" : "w may not write", home_->index(), number_, name_, hold_->token());
}

void worker::on_lost(const runtime::hold_ptr& h, bool by_proof) {
  if (hold_ != h) return;
  close_window(by_proof ? home_->around().time.now() : moment::max());
  if (careful_) {
    home_->later(dice_.between(0ms, 20ms), [this, turn = turn_] {
      if (turn == turn_) give_back();
    });
  } else if (dice_.chance(300)) {  // does not listen at all, and keeps for long what it has not
    home_->later(dice_.between(5s, 20s), [this, turn = ++turn_] {
      if (turn == turn_) give_back();
    });
  }
}

void worker::close_window(moment at_most) {
  auto& all = home_->around();
  all.checks.closed(window_, std::min(at_most, home_->clock().truth_of(hold_->valid_until())));
}

void worker::give_back() {
  if (!hold_) return;
  auto& all = home_->around();
  close_window(all.time.now());
  all.time.note("w gives back", home_->index(), number_, name_, hold_->token());
  const auto h = std::exchange(hold_, nullptr);
  if (dice_.chance(500)) {
    home_->desk().give_back(h, nullptr);
    return rest();
  }
  releasing_ = true;
  home_->desk().give_back(h, [this](tyer::failure, release_outcome o) {
    home_->around().time.note("w gave back", home_->index(), number_, name_, static_cast<std::uint64_t>(o));
    releasing_ = false;
    rest();
  });
}

void worker::look() const {
  const auto now = home_->clock().now();
  auto& time = home_->around().time;
  if (wish_ && wish_->limit != moment::max() && now > wish_->limit + 250ms) {
    time.broken("live", "a caller waits for longer than it said, client " + std::to_string(home_->index()));
  }
  if (hold_ && hold_->where() == tyer::detail::hold_state::phase::held && now >= hold_->valid_until()) {
    time.broken("live", "a hold is over, and its owner was not told, client " + std::to_string(home_->index()));
  }
}

}  // namespace tyer::sim
