#include "engines/memory/store.hpp"

#include "core/forks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace tyer::memory {

namespace {

limits on_a_steady_clock(limits l) {
  l.steady = true;
  return l;
}

}  // namespace

store::store(const core::clock& clock, lease_clock::duration ahead, const limits& l)
    : clock_(clock), ahead_(ahead), catalogue_(on_a_steady_clock(l)), server_id_(core::to_hex(ids_.next())) {}

bool store::submit(std::string name, work w) {
  const std::lock_guard lock{mutex_};
  parked p{std::move(name), std::move(w), now()};
  if (!paused_) return perform(p);
  parked_.push_back(std::move(p));
  return false;
}

void store::join(std::uint64_t nonce, std::shared_ptr<inbox> box) {
  const std::lock_guard lock{mutex_};
  tell_up(*box);
  members_.push_back({nonce, std::move(box)});
}

void store::leave(const inbox& box) {
  const std::lock_guard lock{mutex_};
  std::erase_if(members_, [&](const member& m) { return m.box.get() == &box; });
  std::erase_if(watchers_, [&](const auto& w) { return w.second.box.get() == &box; });
}

void store::watch(std::string name, std::string shown, std::shared_ptr<inbox> box, bool on) {
  const std::lock_guard lock{mutex_};
  const auto [first, last] = watchers_.equal_range(name);
  const auto mine = std::find_if(first, last, [&](const auto& w) { return w.second.box == box; });
  if (on && mine == last) watchers_.insert({std::move(name), {std::move(shown), std::move(box)}});
  if (!on && mine != last) watchers_.erase(mine);
}

void store::pause() {
  const std::lock_guard lock{mutex_};
  paused_ = true;
}

void store::resume() {
  const std::lock_guard lock{mutex_};
  paused_ = false;
  for (parked& p : std::exchange(parked_, {})) perform(p);
}

void store::lose_everything() {
  const std::lock_guard lock{mutex_};
  catalogue_.clear();
  server_id_ = core::to_hex(ids_.next());
  for (const member& m : members_) tell_up(*m.box);
}

fate store::lose(const id& who) {
  const std::lock_guard lock{mutex_};
  notices out;
  const fate was = catalogue_.lose(who, now(), out);
  tell(out);
  return was;
}

census store::count() const {
  const std::lock_guard lock{mutex_};
  return catalogue_.count(now());
}

std::uint64_t store::performed() const {
  const std::lock_guard lock{mutex_};
  return performed_;
}

// True if its answer was sent.
bool store::perform(parked& p) {
  ++performed_;
  const bool unheard = replies_to_lose_ > 0;
  if (unheard) --replies_to_lose_;
  const bool watched = !watchers_.empty() && watchers_.contains(p.name);
  const auto before = watched ? catalogue_.changes(p.name) : 0;
  const auto at = now();
  notices out;
  p.what({catalogue_, p.name, at, at - p.since, unheard, out});
  tell(out);
  if (watched && catalogue_.changes(p.name) != before) tell_changed(p.name);
  return !unheard;
}

void store::lose_next_reply() {
  const std::lock_guard lock{mutex_};
  ++replies_to_lose_;
}

void store::tell(const notices& all) {
  for (const notice& n : all) {
    for (const member& m : members_) {
      if (m.nonce != n.who.nonce()) continue;
      switch (n.what) {
        case notice::kind::wake:
          m.box->put([who = n.who](engine::events* e) {
            if (e) e->wake(who);
          });
          break;
        case notice::kind::gone:
          m.box->put([who = n.who](engine::events* e) {
            if (e) e->gone(who);
          });
          break;
        case notice::kind::asked:
          m.box->put([who = n.who, reason = n.reason](engine::events* e) {
            if (e) e->asked(who, reason);
          });
          break;
      }
    }
  }
}

void store::tell_up(inbox& box) const {
  box.put([server = server_id_](engine::events* e) {
    if (e) e->up({server, "memory"});
  });
}

void store::tell_changed(const std::string& name) {
  const auto [first, last] = watchers_.equal_range(name);
  for (auto w = first; w != last; ++w) {
    w->second.box->put([shown = w->second.shown](engine::events* e) {
      if (e) e->changed(shown);
    });
  }
}

namespace {

// Never destroyed: an engine in a static object may still use it while the process ends. A forked child has one of its own: a
// thread of the parent may have had a mutex, and whoever has a lock in there is not in the child.
struct registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<store>, std::less<>> stores;

  // Owned here, because a store may outlive the client whose environment it was made with.
  const core::boot_clock clock;

  // The offset from this clock to 1970, read once: so tokens also grow from one process to the next.
  const lease_clock::duration ahead =
      std::chrono::system_clock::now().time_since_epoch() - clock.now().time_since_epoch();

  const std::uint64_t made_in = core::fork_generation();
  const registry* of_the_parent = nullptr;
};

registry& stores_of_this_process() {
  static std::atomic<registry*> current{nullptr};
  registry* now = current.load(std::memory_order_acquire);
  while (now == nullptr || now->made_in != core::fork_generation()) {
    auto fresh = std::make_unique<registry>();
    fresh->of_the_parent = now;
    if (current.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) now = fresh.release();
  }
  return *now;
}

}  // namespace

std::shared_ptr<store> named_store(std::string_view name, const core::clock& clock) {
  registry& r = stores_of_this_process();
  const std::lock_guard lock{r.mutex};
  std::erase_if(r.stores, [](const auto& s) { return s.second.expired(); });
  if (const auto at = r.stores.find(name); at != r.stores.end()) {
    if (auto living = at->second.lock()) return living;
  }
  auto made = clock.flows() ? std::make_shared<store>(r.clock, r.ahead) : std::make_shared<store>(clock);
  r.stores.insert_or_assign(std::string{name}, made);
  return made;
}

}  // namespace tyer::memory
