// A coordinator on a scripted engine and a clock that is moved by hand.
#pragma once

#include "runtime/coordinator/coordinator.hpp"
#include "runtime/hold_state.hpp"
#include "unit/runtime/scripted_engine.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tyer::testing {

using namespace std::chrono_literals;
using runtime::hold_ptr;
using phase = tyer::detail::hold_state::phase;

class hand_clock final : public core::clock {
 public:
  lease::time_point now() const noexcept override { return now_; }
  bool flows() const noexcept override { return false; }
  void move(lease::duration d) { now_ = now_.load() + d; }

 private:
  std::atomic<lease::time_point> now_{lease::time_point{1000s}};  // a watch looks at it from its own thread
};

class counted_ids final : public core::id_source {
 public:
  std::uint64_t nonce() const noexcept override { return 7; }
  id next() override {
    const std::uint64_t halves[2] = {7, ++count_};
    return id::from({reinterpret_cast<const char*>(halves), sizeof halves});
  }

 private:
  std::uint64_t count_ = 0;
};

// Notes down what the thread of the alarms would do.
class noting_watcher final : public runtime::watcher {
 public:
  void guard(const hold_ptr& h) override { guarded.push_back(h); }
  void tell(const hold_ptr& h) noexcept override { told.push_back(h); }
  void ask(const hold_ptr& h) noexcept override { asked.push_back(h); }
  std::vector<hold_ptr> guarded, told, asked;
};

// What a caller was told.
struct told {
  int times = 0;
  tyer::failure why;
  hold_ptr hold;
};

// What one who changes the mode of a hold was told.
struct changed {
  int times = 0;
  tyer::failure why;
  bool yes = false;
};

struct bench {
  explicit bench(runtime::limits l = {}) : bounds(l) {}

  runtime::limits bounds;
  hand_clock clock;
  counted_ids ids;
  noting_watcher watcher;
  scripted_engine engine{clock};
  runtime::coordinator coordinator{engine, clock, ids, watcher, bounds};

  std::shared_ptr<runtime::spec> lock = make_lock("order", 9s);

  static std::shared_ptr<runtime::spec> make_lock(std::string name, milliseconds ttl, std::uint32_t handoffs = 0) {
    auto s = std::make_shared<runtime::spec>();
    s->name = std::move(name);
    s->ttl = ttl;
    s->waiter_ttl = std::chrono::ceil<milliseconds>(lease::default_waiter_ttl(ttl));
    s->handoffs = handoffs;
    return s;
  }

  struct caller {
    std::shared_ptr<runtime::acquisition> acquisition;
    std::shared_ptr<told> answer;
    told* operator->() const { return answer.get(); }
  };
  caller want(std::shared_ptr<const runtime::spec> what, bool waits = true, std::optional<lease::duration> limit = {}) {
    caller c{std::make_shared<runtime::acquisition>(), std::make_shared<told>()};
    c.acquisition->what = std::move(what);
    c.acquisition->waits = waits;
    if (limit) c.acquisition->limit = clock.now() + *limit;
    c.acquisition->done = [a = c.answer](tyer::failure f, hold_ptr h) {
      ++a->times;
      a->why = std::move(f);
      a->hold = std::move(h);
    };
    coordinator.want(c.acquisition);
    return c;
  }
  caller want() { return want(lock); }
  caller try_once() { return want(lock, false); }

  // A caller that has the lock, with the token part given.
  caller held(std::uint64_t part = 100) {
    caller c = want();
    engine.acquires.back().grant(part);
    return c;
  }

  // The same lock in shared mode.
  static std::shared_ptr<runtime::spec> readers_of(const runtime::spec& s) {
    auto r = std::make_shared<runtime::spec>(s);
    r->how = seam::mode::shared;
    return r;
  }

  struct changer {
    std::shared_ptr<runtime::change> change;
    std::shared_ptr<changed> answer;
    changed* operator->() const { return answer.get(); }
  };
  changer convert(const hold_ptr& h, std::shared_ptr<const runtime::spec> to, bool waits = true,
                  std::optional<lease::duration> limit = {}) {
    changer c{std::make_shared<runtime::change>(), std::make_shared<changed>()};
    c.change->of = h;
    c.change->to = std::move(to);
    c.change->waits = waits;
    if (limit) c.change->limit = clock.now() + *limit;
    c.change->done = [a = c.answer](tyer::failure f, bool yes) {
      ++a->times;
      a->why = std::move(f);
      a->yes = yes;
    };
    coordinator.convert(c.change);
    return c;
  }

  // Every renewal so far was executed.
  void answer_keeps() {
    for (std::size_t i = 0; i < engine.keeps.size(); ++i) {
      auto& k = engine.keeps[i];
      if (!k.answered()) k.answer(std::vector<fate>(k.who.size(), k.as));
    }
  }
  // The engine confirms what is held, so that whoever waits by now may be handed it.
  void confirm() {
    clock.move(1ms);
    coordinator.up({});
    answer_keeps();
  }

  // Gives back, and the engine confirms it at once if it was asked.
  void give_back(const caller& c) {
    const auto before = engine.releases.size();
    coordinator.give_back(c->hold, {});
    if (engine.releases.size() > before) engine.releases.back().answer(fate::holding);
  }

  // Time goes on, and the coordinator does what is due on the way.
  void pass(lease::duration d) {
    const auto end = clock.now() + d;
    for (auto due = coordinator.next_due(); due <= end; due = coordinator.next_due()) {
      if (due > clock.now()) clock.move(due - clock.now());
      coordinator.on_time(clock.now());
    }
    clock.move(end - clock.now());
    coordinator.on_time(clock.now());
  }
  // Time goes on, and nothing happens in this process: it was stopped.
  void stop_for(lease::duration d) { clock.move(d); }
};

}  // namespace tyer::testing
