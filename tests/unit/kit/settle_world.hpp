// Many clients on one simulated name (sim_table.hpp), each with settle and nothing else: requests are carried out late or not at all,
// answers come late or never, clients die. By seed; the judge of who holds is what clients believe.
#pragma once

#include "engines/kit/settle.hpp"
#include "unit/kit/sim_table.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tyer::kit {

using namespace std::chrono_literals;

class settle_world {
 public:
  struct setting {
    std::vector<mode> modes = {mode::exclusive};
    std::size_t clients = 5;
    bool faults = true;
    bool sessions = true;
    bool polls = true;  // else whoever waits relies on being woken
    sim_table::setting table = {};
  };
  static constexpr auto ttl = 400ms, waiter_ttl = 300ms, timeout = 120ms;
  static constexpr auto troubled = 3s, at_most = 60s;

  settle_world(std::uint32_t seed, const setting& s) : setting_(s), table(s.table), dice_(seed) {
    for (std::size_t i = 0; i < s.clients; ++i) {
      clients_.push_back(std::make_unique<client>());
      clients_.back()->number = i + 1;
      in(some(50ms), [this, c = clients_.back().get()] { begin(*c); });
    }
  }

  // Until the time of troubles is over and everybody who lives has had it once more.
  void run() {
    while (!events_.empty() && now_ < start + at_most && wrong.empty() && table.wrong.empty()) {
      auto next = events_.begin();
      now_ = next->first;
      table.now = store_time{1'000'000s} + (now_ - start);
      auto what = std::move(next->second);
      events_.erase(next);
      what();
      if (now_ > start + troubled && everybody_is_served()) return;
    }
    if (wrong.empty() && table.wrong.empty() && !everybody_is_served()) wrong.push_back("somebody waits for ever");
  }

  std::vector<std::string> wrong;

 private:
  static constexpr time_point start{100s};
  struct client {
    std::uint64_t number = 0, serial = 0, session = 0;
    request want;
    bool alive = true, holds = false, waits = false, served = false;
    std::uint64_t epoch = 0;  // of the attempt: what belongs to an earlier one is dropped
    time_point valid_until{};
    std::vector<std::uint32_t> slots;
    time_point session_sent{};
    bool session_open = false;
  };

  // --- dice and events

  bool one_in(int n) { return static_cast<int>(dice_() % static_cast<std::uint32_t>(n)) == 0; }
  milliseconds some(milliseconds max) { return milliseconds{1 + dice_() % static_cast<std::uint32_t>(max.count())}; }
  void in(milliseconds later, std::function<void()> what) { events_.emplace(now_ + later, std::move(what)); }
  bool troubles() const { return setting_.faults && now_ < start + troubled; }

  // A request to the server and its answer: `there` is carried out, `back` has its result, `lost` says that none came in time.
  template <class There, class Back>
  void send(There there, Back back, std::function<void(why)> lost) {
    auto open = std::make_shared<bool>(true);
    const bool never = troubles() && one_in(25), unheard = troubles() && one_in(25), late = troubles() && one_in(15);
    in(timeout, [open, lost] {
      if (std::exchange(*open, false)) lost(why::unknown);
    });
    if (never) return;
    in(late ? timeout + some(300ms) : some(5ms), [this, open, there, back, unheard]() mutable {
      auto r = std::make_shared<decltype(there())>(there());
      if (unheard) return;
      in(some(5ms), [open, back, r]() mutable {
        if (std::exchange(*open, false)) back(std::move(*r));
      });
    });
  }

  // --- one call by settle

  struct call {
    client* of;
    request r;
    time_point sent;
    std::optional<settle> machine;
    result<answer> said;
    fate was = fate::unknown;
    std::uint64_t part = 0;
    std::function<void(call&)> over;
    bool failed = false;
  };
  using call_ptr = std::shared_ptr<call>;

  call_ptr make(client& c, std::function<void(call&)> over) {
    auto k = std::make_shared<call>();
    k->of = &c;
    k->r = c.want;
    k->sent = now_;
    k->over = std::move(over);
    return k;
  }
  void start_call(const call_ptr& k, settle::task t) {
    t.deadline = now_ + 2s;
    t.not_after = now_ + 1s;
    k->machine.emplace(std::move(t));
    obey(k, k->machine->start(now_));
  }

  void obey(const call_ptr& k, settle::order o) {
    using verb = settle::verb;
    settle& m = *k->machine;
    const auto n = o.number;
    const auto lost = [this, k, n](why w) { obey(k, k->machine->on_failure(n, no(w, errc::unavailable, ""), now_)); };
    const auto seen = [this, k, n](view v) { obey(k, k->machine->on_view(n, std::move(v), now_)); };
    switch (o.what) {
      case verb::nothing: return;
      case verb::attempt:
        return send([this, k] { return table.take(k->r); },
                    [this, k, n](sim_table::taken t) {
                      k->part = t.part;
                      obey(k, k->machine->on_attempted(n, t.done, std::move(t.instead), now_));
                    },
                    lost);
      case verb::read_head: return send([this] { return table.read(false); }, seen, lost);
      case verb::read_all: return send([this] { return table.read(true); }, seen, lost);
      case verb::end_leases:
        return send(
            [this, dead = m.seen().name.must_end()] {
              table.end(dead);
              return true;
            },
            [this, k, n](bool) { obey(k, k->machine->on_ended(n, now_)); }, lost);
      case verb::write:
        return send([this, v = m.seen()] { return table.write(v); },
                    [this, k, n](settle::written w) { obey(k, k->machine->on_written(n, std::move(w), now_)); }, lost);
      case verb::join:
        return send([this, s = *m.seen().name.find(k->r.what.who), k] { return table.join(s, k->r.waiter_ttl); },
                    [this, k, n](view v) { obey(k, k->machine->on_joined(n, std::move(v), now_)); }, lost);
      case verb::done:
        tell(m.told());
        if (m.look_again()) look_again(*k->of);
        return k->over(*k);
      case verb::failed: k->failed = true; return k->over(*k);
    }
  }

  void look_again(client& c) {
    auto k = make(c, [](call&) {});
    start_call(k, {.decide = [](resource& r, store_time at, notices& told) { r.reap(at, told); }});
  }

  void tell(const notices& all) {
    for (const notice& n : all) {
      if (n.what != notice::kind::wake || (troubles() && one_in(5))) continue;
      client& c = *clients_[n.who.nonce() - 1];
      in(some(5ms), [this, &c, who = n.who] {
        if (c.alive && c.waits && c.want.what.who == who) acquire(c, c.epoch);
      });
    }
  }

  // --- a client: asks, waits, holds, renews, gives back; and again

  void begin(client& c) {
    if (!c.alive) return;
    c.want = {};
    id who;
    const std::array<std::uint64_t, 2> halves{c.number, ++c.serial};
    std::memcpy(who.bytes.data(), halves.data(), sizeof halves);
    c.want.what = {who, "n", setting_.modes[dice_() % setting_.modes.size()]};
    if (c.want.what.how == mode::permit) {
      c.want.capacity = 3;
      c.want.take = 1 + dice_() % 2;
    }
    c.want.ttl = ttl;
    c.want.waiter_ttl = setting_.polls ? waiter_ttl : milliseconds{at_most};
    c.want.enqueue = !one_in(5);
    c.waits = c.holds = false;
    acquire(c, ++c.epoch);
  }

  void acquire(client& c, std::uint64_t epoch) {
    if (!c.alive || c.epoch != epoch || c.holds) return;
    auto k = make(c, [this, &c, epoch](call& done) { acquired(c, epoch, done); });
    start_call(
        k, {.decide = [k = k.get()](resource& r, store_time at, notices& told) { k->said = r.acquire(k->r, at, told); },
            .who = c.want.what.who,
            .attempt_first = c.want.what.how == mode::exclusive && !c.waits});
  }

  void acquired(client& c, std::uint64_t epoch, call& k) {
    if (!c.alive || c.epoch != epoch || c.holds) return;
    if (k.failed) {
      in(some(30ms), [this, &c, epoch] { acquire(c, epoch); });
      return;
    }
    if (k.machine->by_attempt()) k.said = answer{engine::granted{k.part, ttl, {}}};
    const auto* a = std::get_if<answer>(&k.said);
    if (a == nullptr) return give_up(c);
    if (const auto* g = std::get_if<engine::granted>(a)) return hold(c, k.sent + ttl, g->slots);
    if (std::holds_alternative<engine::busy>(*a)) return rest(c);
    c.waits = true;
    if (troubles() && one_in(12)) return give_up(c);
    if (!setting_.polls) return;
    const auto again = std::min<milliseconds>(std::get<engine::queued>(*a).look_again, waiter_ttl / 3);
    in(again, [this, &c, epoch] {
      if (c.waits) acquire(c, epoch);
    });
  }

  void hold(client& c, time_point until, std::vector<std::uint32_t> slots) {
    if (until <= now_) return give_up(c);
    c.holds = true;
    c.waits = false;
    c.valid_until = until;
    c.slots = std::move(slots);
    if (now_ > start + troubled) c.served = true;
    for (const auto& other : clients_) {
      if (other.get() != &c && conflict(c, *other)) {
        wrong.push_back("two hold it: " + std::to_string(c.number) + " and " + std::to_string(other->number));
      }
    }
    if (troubles() && c.number > 2 && one_in(25)) {
      c.alive = false;  // and believes to hold until its lease is over
      return;
    }
    if (setting_.sessions && one_in(3)) {
      const auto end = std::chrono::floor<milliseconds>(until - now_);
      const auto first = one_in(2) ? 1ms : one_in(2) ? some(end) : std::max(1ms, end - some(4ms));
      return in(first, [this, &c, epoch = c.epoch] { keep(c, epoch, 3); });
    }
    in(some(one_in(6) ? 500ms : 60ms), [this, &c, epoch = c.epoch] {
      if (c.epoch == epoch) give_up(c);
    });
  }

  // Under a session: the first renewal attaches it, the others renew the session.
  void keep(client& c, std::uint64_t epoch, int times) {
    if (!c.alive || c.epoch != epoch || !c.holds) return;
    if (times == 0 || now_ >= c.valid_until) return give_up(c);
    const auto sent = now_;
    if (!c.session_open) {
      c.session = c.number * 1000 + c.serial;
      c.session_open = true;
      table.open(static_cast<std::int64_t>(c.session), ttl);
      c.session_sent = now_;
    }
    const auto session = static_cast<std::int64_t>(c.session);
    send(
        [this, who = c.want.what.who, session] {
          const bool lives = table.renew(session, ttl);
          return lives && table.attach(who, session);
        },
        [&c, epoch, sent, session](bool kept) {
          if (!kept) c.session_open = c.session_open && static_cast<std::int64_t>(c.session) != session;
          if (kept && c.epoch == epoch && c.holds) c.valid_until = std::max(c.valid_until, sent + ttl);
        },
        [](why) {});
    in(one_in(2) ? ttl / 3 : ttl - some(60ms), [this, &c, epoch, times] { keep(c, epoch, times - 1); });
  }

  void give_up(client& c) {
    const auto epoch = ++c.epoch;
    c.holds = c.waits = false;
    release(c, epoch, 5);
  }
  void release(client& c, std::uint64_t epoch, int times) {
    if (!c.alive || c.epoch != epoch) return;
    auto k = make(c, [this, &c, epoch, times](call& done) {
      if (c.epoch != epoch) return;
      if (!done.failed || times == 0) return rest(c);
      in(some(30ms), [this, &c, epoch, times] { release(c, epoch, times - 1); });
    });
    start_call(k, {.decide = [k = k.get()](resource& r, store_time at, notices& told) {
                 k->was = r.release(k->r.what.who, true, at, told);
               }});
  }
  void rest(client& c) {
    in(some(40ms), [this, &c, epoch = ++c.epoch] {
      if (c.epoch == epoch) begin(c);
    });
  }

  // Both believe to hold, as things that cannot be held at once.
  bool conflict(const client& a, const client& b) const {
    if (!b.holds || b.valid_until <= now_) return false;
    if (a.want.what.how != b.want.what.how || a.want.what.how == mode::exclusive) return true;
    return std::ranges::any_of(a.slots, [&](auto slot) { return std::ranges::find(b.slots, slot) != b.slots.end(); });
  }
  bool everybody_is_served() const {
    return std::ranges::all_of(clients_, [](const auto& c) { return !c->alive || c->served; });
  }

  setting setting_;

 public:
  sim_table table;

 private:
  std::mt19937 dice_;
  std::multimap<time_point, std::function<void()>> events_;
  time_point now_ = start;
  std::vector<std::unique_ptr<client>> clients_;
};

}  // namespace tyer::kit
