#include "api/access.hpp"
#include "api/hand_clock.hpp"
#include "api/open.hpp"
#include "core/for_ever.hpp"
#include "engines/memory/store.hpp"
#include "runtime/own_thread.hpp"

#include <tyer/testing.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace testing {

namespace {

// Time moves when the clients have sent no request to the store in this many rounds: one client's release wakes another,
// whose claim is answered in the round after.
constexpr int quiet_rounds = 4;
// A client that sends a request in every round would keep time from moving.
constexpr int rounds_max = 10'000;

// Shared with the thread that moves time, which may be the last to let go of a client.
struct world {
  std::shared_ptr<hand_clock> clock = std::make_shared<hand_clock>();
  std::shared_ptr<memory::store> server = std::make_shared<memory::store>(*clock);
  std::mutex mutex;
  std::vector<std::weak_ptr<runtime::client_runtime>> clients;
  std::mutex moving;  // one thread at a time moves time or injects a fault

  void move_when_all_sleep(const std::stop_token& over) {
    while (clock->wait_until_all_sleep(over)) {
      if (!step()) clock->wait_for_a_change(over);
    }
  }

  // Moves time to the next thing that is due, unless a thread got an answer meanwhile: that thread may be running, or may
  // have sent another request, through a client that did not exist before, and sleep again.
  bool step() {
    const std::lock_guard lock{moving};
    const auto since = clock->changes();
    const auto next = settle();
    if (next == lease_clock::time_point::max()) return false;
    if (clock->set_if_all_slept(std::max(next, clock->now() + std::chrono::microseconds{1}), since)) settle();
    return true;
  }

  std::vector<std::shared_ptr<runtime::client_runtime>> those_who_live() {
    const std::lock_guard lock{mutex};
    std::vector<std::shared_ptr<runtime::client_runtime>> live;
    for (const auto& c : clients) {
      if (auto h = c.lock()) live.push_back(std::move(h));
    }
    return live;
  }

  bool has(const std::shared_ptr<runtime::client_runtime>& h) {
    const auto live = those_who_live();
    return std::ranges::find(live, h) != live.end();
  }

  // Does what is due first, so that callers who are answered at once are not counted.
  std::size_t waiting_for(std::string_view name) {
    const std::lock_guard lock{moving};
    settle();
    std::size_t n = 0;
    for (const auto& h : those_who_live()) n += h->closed() ? 0 : h->waiting_for(name);
    return n;
  }

  // Everything due now is done; returns when the next thing is due.
  lease_clock::time_point settle() {
    const auto live = those_who_live();
    auto next = lease_clock::time_point::max();
    for (int quiet = 0, all = 0; quiet < quiet_rounds && all < rounds_max; ++all) {
      const auto before = server->performed();
      next = lease_clock::time_point::max();
      for (const auto& h : live) next = std::min(next, h->look());
      quiet = server->performed() == before ? quiet + 1 : 0;
    }
    return std::min(next, clock->next_due());
  }
};

}  // namespace

// Shared by the engine and its clients: time goes on for the clients when the engine is gone.
struct engine::state {
  ~state() {
    const bool another = !in.forked() && mover.get_id() != std::this_thread::get_id();  // in a child there is none
    if (!in.forked()) mover.request_stop();
    another ? mover.join() : mover.detach();
  }

  // Moving time and injecting a fault wait for the clients: on a thread of a client that would be a deadlock, and in a
  // forked child the clients have no threads.
  world& from_outside() const {
    if (in.forked()) throw error(errc::forked);
    if (runtime::on_own_thread) throw error(runtime::on_a_thread_of_tyer());
    all->clock->know_this_thread();
    return *all;
  }

  const runtime::birth in;

  const std::shared_ptr<world> all = std::make_shared<world>();
  std::jthread mover{[w = all](const std::stop_token& over) { w->move_when_all_sleep(over); }};
};

engine::engine() : state_(std::make_shared<state>()) {}
engine::~engine() = default;

client engine::connect(client_options options) {
  static_cast<void>(state_->from_outside());
  options.log = detail::careful(std::move(options.log));
  runtime::client_runtime::parts parts;
  parts.clock = {state_, state_->all->clock.get()};
  parts.ids = std::make_unique<core::random_ids>();
  parts.engine = memory::make_engine(
      state_->all->server, {options.prefix, parts.ids.get(), parts.clock.get(), options.request_timeout, options.log});
  auto address = "testing://" + std::to_string(reinterpret_cast<std::uintptr_t>(state_->all->server.get()));
  auto identity = options.prefix + ' ' + address;
  auto c = detail::open_client(std::move(parts), options, std::move(address), std::move(identity));
  {
    const std::lock_guard lock{state_->all->mutex};
    std::erase_if(state_->all->clients, [](const auto& w) { return w.expired(); });
    state_->all->clients.push_back(c->home);
  }
  return detail::access::make_client(std::move(c));
}

lease_clock::time_point engine::now() const noexcept {
  if (!runtime::on_own_thread && !state_->in.forked()) state_->all->clock->know_this_thread();
  return state_->all->clock->now();
}

void engine::move(std::chrono::nanoseconds by) {
  world& w = state_->from_outside();
  const std::lock_guard lock{w.moving};
  const auto target = now() + core::within_for_ever<std::chrono::nanoseconds>(by);
  for (;;) {
    const auto next = w.settle();
    if (now() >= target) return;
    w.clock->set(std::clamp(next, now() + std::chrono::microseconds{1}, target));
  }
}

void engine::pause() {
  world& w = state_->from_outside();
  w.clock->set_stalled(true);
  w.server->pause();
}

void engine::resume() {
  world& w = state_->from_outside();
  const std::lock_guard lock{w.moving};
  w.clock->set_stalled(false);
  w.server->resume();
  w.settle();
}

void engine::lose_next_reply() { state_->from_outside().server->lose_next_reply(); }

bool engine::wait_for_waiters(std::string_view name, std::size_t n) {
  using namespace std::chrono_literals;
  world& w = state_->from_outside();
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (w.waiting_for(name) < n) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

void engine::lose(const hold& h) {
  world& w = state_->from_outside();
  const auto& s = detail::access::state(h);
  if (!s) throw error(errc::not_held);
  if (const auto home = s->home.lock(); home && !w.has(home)) {
    throw error({errc::not_held, "this is a hold of another engine"});
  }
  const std::lock_guard lock{w.moving};
  w.server->lose(s->who());
  w.settle();
}

void engine::lose_everything() {
  world& w = state_->from_outside();
  const std::lock_guard lock{w.moving};
  w.clock->set(now() + std::chrono::microseconds{1});  // a restart takes time; the next token depends on it
  w.server->lose_everything();
  w.settle();
}

}  // namespace testing
}  // namespace v1
}  // namespace tyer
