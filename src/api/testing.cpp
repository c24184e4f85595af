#include "api/access.hpp"
#include "api/hand_clock.hpp"
#include "api/open.hpp"
#include "core/for_ever.hpp"
#include "engines/memory/memory.hpp"
#include "engines/memory/store.hpp"

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

// So often are all clients asked to do what is due before time moves on: one client's release is another one's wake-up,
// whose claim is answered in the round after.
constexpr int rounds = 4;

}  // namespace

struct engine::state {
  std::shared_ptr<hand_clock> clock = std::make_shared<hand_clock>();
  std::shared_ptr<memory::store> server = std::make_shared<memory::store>(*clock);
  std::mutex mutex;
  std::vector<std::weak_ptr<runtime::house>> clients;
  std::mutex moving;  // one at a time moves time, or disturbs the store
  std::jthread mover{[this](const std::stop_token& over) {
    while (clock->wait_until_all_sleep(over)) step();
  }};  // the last member, so the first to go

  // On to the next thing that is due, unless somebody had an answer meanwhile and may go on.
  void step() {
    const std::lock_guard lock{moving};
    const auto next = settle();
    if (next == lease_clock::time_point::max() || !clock->all_sleep()) return;
    clock->set(std::max(next, clock->now() + std::chrono::microseconds{1}));
    settle();
  }

  // Everything due now is done; returns when the next thing is due.
  lease_clock::time_point settle() {
    std::vector<std::shared_ptr<runtime::house>> live;
    {
      const std::lock_guard lock{mutex};
      for (const auto& c : clients) {
        if (auto h = c.lock()) live.push_back(std::move(h));
      }
    }
    auto next = lease_clock::time_point::max();
    for (int i = 0; i < rounds; ++i) {
      next = lease_clock::time_point::max();
      for (const auto& h : live) next = std::min(next, h->look());
    }
    return std::min(next, clock->next_due());
  }
};

engine::engine() : state_(std::make_shared<state>()) {}
engine::~engine() = default;

client engine::connect(client_options options) {
  state_->clock->know_this_thread();
  runtime::house::parts parts;
  parts.clock = state_->clock;
  parts.ids = std::make_unique<core::random_ids>();
  parts.engine = memory::make_engine(
      state_->server, {options.prefix, parts.ids.get(), parts.clock.get(), options.request_timeout, options.log});
  auto address = "testing://" + std::to_string(reinterpret_cast<std::uintptr_t>(state_->server.get()));
  auto identity = options.prefix + ' ' + address;
  auto c = detail::open_client(std::move(parts), options, std::move(address), std::move(identity));
  {
    const std::lock_guard lock{state_->mutex};
    std::erase_if(state_->clients, [](const auto& w) { return w.expired(); });
    state_->clients.push_back(c->home);
  }
  return detail::access::make_client(std::move(c));
}

lease_clock::time_point engine::now() const noexcept { return state_->clock->now(); }

void engine::move(std::chrono::nanoseconds by) {
  state_->clock->know_this_thread();
  const std::lock_guard lock{state_->moving};
  const auto target = now() + core::within_for_ever<std::chrono::nanoseconds>(by);
  for (;;) {
    const auto next = state_->settle();
    if (now() >= target) return;
    state_->clock->set(std::clamp(next, now() + std::chrono::microseconds{1}, target));
  }
}

void engine::pause() {
  state_->clock->know_this_thread();
  state_->clock->set_stalled(true);
  state_->server->pause();
}

void engine::resume() {
  state_->clock->know_this_thread();
  const std::lock_guard lock{state_->moving};
  state_->clock->set_stalled(false);
  state_->server->resume();
  state_->settle();
}

void engine::lose(const hold& h) {
  const auto& s = detail::access::state(h);
  if (!s) throw error(errc::not_held);
  state_->clock->know_this_thread();
  const std::lock_guard lock{state_->moving};
  state_->server->lose(s->who());
  state_->settle();
}

void engine::lose_everything() {
  state_->clock->know_this_thread();
  const std::lock_guard lock{state_->moving};
  state_->clock->set(now() + std::chrono::microseconds{1});  // a restart takes time, and the next token is made of it
  state_->server->lose_everything();
  state_->settle();
}

}  // namespace testing
}  // namespace v1
}  // namespace tyer
