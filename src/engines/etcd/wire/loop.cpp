#include "engines/etcd/wire/loop.hpp"

#include "engines/etcd/wire/channel.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::etcd::wire {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

// Nobody was here for so long (the process was stopped, perhaps): what has come meanwhile is read before anything is given up
// for having taken too long.
constexpr auto absent_for = 100ms;

}  // namespace

// --- who is to be told ---

void loop_line::push(std::shared_ptr<delivery> d) noexcept {
  delivery* const added = d.get();
  (last_ != nullptr ? last_->next_ : first_) = std::move(d);
  last_ = added;
}

std::shared_ptr<delivery> loop_line::pop() noexcept {
  auto d = std::move(first_);
  if (!d) return d;
  first_ = std::move(d->next_);
  if (!first_) last_ = nullptr;
  return d;
}

void loop_line::clear() noexcept {
  while (const auto d = pop()) d->forget();
}

void loop::body::push(std::shared_ptr<delivery> d) noexcept {
  if (ended_) return d->forget();
  if (std::exchange(d->in_line_, true)) return;
  (d->where_ == told::in_run ? in_run_ : anywhere_line_).push(std::move(d));
}

bool loop::body::deliver(loop_line& line) {
  bool whole = true;
  for (;;) {
    std::shared_ptr<delivery> d;
    {
      const turn mine{*this};
      d = line.pop();
      if (d) d->in_line_ = false;
    }
    if (!d) return whole;
    try {
      d->deliver();
    } catch (const std::bad_alloc&) {  // of one thing that came; the others are told all the same
      whole = false;
    }
  }
}

// --- turns ---

loop::turn::turn(body& b) : body_(b) {
  if (b.turn_.try_lock()) return;
  const std::lock_guard before_the_driver{b.next_};
  ++b.wanted_;
  try {
    asio::post(b.context_, [] {});
  } catch (...) {  // no memory: it is had with the next event
  }
  b.turn_.lock();
  --b.wanted_;
}

// Whoever waits for a turn has it before the thread in run() has it again, which would else be the quicker one again and again.
void loop::body::give_way() { const std::lock_guard those_who_wait{next_}; }

loop::body::body(const core::clock& c) : clock_(c), work_(context_.get_executor()) {}

loop::body::~body() { end(); }

void loop::body::end() {
  ended_ = true;
  {
    const std::lock_guard lock{timers_mutex_};
    timers_.clear();
  }
  timers_changed_.notify_all();
  try {
    asio::post(context_, [] {});
  } catch (...) {}
  if (stands_in_.joinable()) stands_in_.join();
  const turn mine{*this};
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i] == nullptr) continue;
    const auto alive = channels_[i]->weak_from_this().lock();
    channels_[i]->leave_home();
  }
  channels_.clear();
  in_run_.clear();
  anywhere_line_.clear();
}

void loop::body::join(channel& c) {
  const turn mine{*this};
  channels_.push_back(&c);
}
void loop::body::leave(channel& c) {
  std::replace(channels_.begin(), channels_.end(), &c, static_cast<channel*>(nullptr));
}

// One that finds no memory is given up and begins again; the others go on.
template <class Call>
void loop::body::each(Call call) {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i] == nullptr) continue;
    try {
      call(*channels_[i]);
    } catch (const std::bad_alloc&) {
      if (channels_[i] != nullptr) channels_[i]->broken("out of memory");
    }
  }
}

void loop::body::flush(time_point t) {
  each([t](channel& c) { c.flush(t); });
}
void loop::body::tick(time_point t) {
  each([t](channel& c) { c.tick(t); });
}

// What has come is read before anything is given up for having taken too long.
void loop::body::see_to_time(time_point t) {
  take_due_timers(t);
  if (channels_due() <= t) serve({});
  tick(t);
  flush(t);
}

time_point loop::body::channels_due() const {
  auto next = time_point::max();
  for (const channel* c : channels_) {
    if (c != nullptr) next = std::min(next, c->due());
  }
  return next;
}

time_point loop::body::due() {
  const auto next = channels_due();
  const std::lock_guard lock{timers_mutex_};
  return timers_.empty() ? next : std::min(next, timers_.begin()->first);
}

void loop::body::serve(lease_clock::duration limit) {
  try {
    if (limit <= lease_clock::duration::zero()) {
      context_.poll();
    } else {
      context_.run_one_for(std::min<lease_clock::duration>(limit, 1h));
    }
  } catch (const std::bad_alloc&) {
    each([](channel& c) { c.broken("out of memory"); });
  } catch (const boost::system::system_error& e) {
    each([&e](channel& c) { c.broken(e.what()); });
  }
}

// --- the thread in run() ---

bool loop::body::run(time_point until) {
  give_way();
  {
    const turn mine{*this};
    flush(clock_.now());
    if (clock_.now() - left_at_ > absent_for) serve({});
    for (;;) {
      const auto t = clock_.now();
      see_to_time(t);
      if (has_news()) break;
      if (context_.woken() || t >= until || wanted_ > 0) {
        serve({});
        break;
      }
      serve(std::min(until, due()) - t);
      if (has_news()) break;
    }
    context_.returned();
    std::erase(channels_, nullptr);
    left_at_ = clock_.now();
  }
  const bool whole = deliver(in_run_);
  const bool all_whole = deliver(anywhere_line_) && whole;
  if (anywhere_ > 0) send_now();
  return all_whole;
}

// Whoever ran may not come back soon.
void loop::body::send_now() {
  const turn mine{*this};
  flush(clock_.now());
}

// --- the face ---

loop::loop(const core::clock& c) : body_(std::make_unique<body>(c)) {}

loop::~loop() = default;

bool loop::run(time_point until) { return body_->run(until); }
void loop::wake() noexcept { body_->wake(); }

}  // namespace tyer::etcd::wire
