// Some clients want one name while connections break, answers are lost, servers and clients stand still, sessions end and operators take
// nodes away: never two at a time, tokens in order, every call returns, nobody waits for ever, and nothing is left.
#include "unit/zookeeper/counted.hpp"

#include <cstdlib>
#include <random>

namespace tyer::zookeeper::test {

namespace {

using engine::time_point;

constexpr auto hold_ttl = 4s, place_ttl = 3s, called_within = 6s;
constexpr std::uint32_t capacity = 3;
constexpr auto ended_after = 7500ms;  // a leader may not have heard of a quarter of a session's length

class mishaps {
 public:
  mishaps(unsigned seed, bool breaks, protocol p)
      : random_(seed),
        breaks_(breaks),
        layout_(p, p == protocol::own ? "/tyer" : "", "tyer:"),
        every_(20 + static_cast<int>(seed % 5) * 20),
        few_shared_(2 + static_cast<int>(seed % 3)),
        converts_every_(30 + 100 * static_cast<int>(seed % 3)),
        permits_(layout_.is_own() && seed % 4 == 3) {
    const std::string query = p == protocol::own          ? ""
                              : p == protocol::curator_rw ? "?protocol=curator-rw"
                                                          : "?protocol=kazoo";
    server_.greets = [this](std::int64_t session) -> std::int32_t {
      if (clock_.t < silent_until_) return -1;
      if (ended_.contains(session)) return 0;
      heard_[session] = clock_.t;
      return server_.timeout_ms;
    };
    const auto serve = server_.serves;
    server_.serves = [this, serve](wire::op what, wire::reader r, std::int64_t session) {
      heard_[session] = clock_.t;
      const auto before = zoo_.children(line);
      auto words = serve(what, r, session);
      if (const auto after = zoo_.children(line); after != before) note_change(session, before, after);
      return words;
    };
    for (program& each : programs_) {
      each.home = this;
      auto uri = core::parse_uri("zk://" + server_.host() + query);
      each.value = std::move(::tyer_engine_zookeeper(uri.value, {"tyer:", &ids_, &clock_, 5s, {}}).value);
      each.value->open(each);
      for (int i = 0; i < 3; ++i) each.all.emplace_back().home = &each;
    }
  }

  void run() {
    for (const auto end = clock_.t + 40s; clock_.t < end && wrong_.empty();) tick(true);
    silent_until_ = {};
    server_.stops_at.reset();
    server_.swallows.reset();
    for (auto& p : programs_) p.stands_until = {};
    const auto end = clock_.t + 60s;
    while (clock_.t < end && wrong_.empty() && !(all_idle() && zoo_.children(line).empty())) tick(false);
    if (wrong_.empty() && !all_idle()) complain("somebody waits for ever");
    if (wrong_.empty() && !zoo_.children(line).empty()) complain("something is left");
  }
  const std::string& wrong() const { return wrong_; }
  int grants() const { return grants_; }

 private:
  enum class state : std::uint8_t { idle, wants, waits, has, upgrades, leaves };
  struct program;
  struct actor {
    program* home = nullptr;
    id who{};
    mode how = mode::exclusive;
    state is = state::idle;
    bool pending = false, woken = false, lost = false, converts = false;
    std::uint64_t part = 0;
    std::uint32_t take = 1;
    std::vector<std::uint32_t> slots;
    time_point valid_until{}, called{}, next{}, since{};
    bool holds() const { return is == state::has || is == state::upgrades; }
    bool alone() const { return holds() && how == mode::exclusive; }
  };
  struct program final : engine::events {
    void wake(const id& who) override {
      if (actor* a = find(who)) a->woken = true;
    }
    void suspect(const id&) override {}
    void gone(const id& who) override {
      if (actor* a = find(who)) home->is_gone(*a);
    }
    void asked(const id&, std::string_view) override {}
    void changed(std::string_view) override {}
    void up(const engine::server_facts&) override {}
    void down(const engine::failure&) override {}
    actor* find(const id& who) {
      for (actor& a : all) {
        if (a.who == who && a.is != state::idle) return &a;
      }
      return nullptr;
    }

    mishaps* home = nullptr;
    std::deque<actor> all;
    std::unique_ptr<engine::engine> value;
    time_point stands_until{}, keeps_at{};
    std::uint64_t seen = 0;
  };

  int upto(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool once_in(int n) { return upto(n) == 0; }
  milliseconds some(int from, int to) { return milliseconds{from + upto(to - from)}; }

  void complain(const std::string& words) {
    if (!wrong_.empty()) return;
    wrong_ = words;
    for (const auto& p : programs_) {
      for (const actor& a : p.all)
        wrong_ += "\n  " + core::to_hex(a.who) + " state " + std::to_string(static_cast<int>(a.is)) +
                  (a.how == mode::shared ? " shared" : "") + (a.pending ? " pending" : "") + (a.woken ? " woken" : "") +
                  " part " + std::to_string(a.part) + " since " + std::to_string((clock_.t - a.since) / 1ms) + " ms" +
                  (a.holds() ? " holds" : "") + " valid for " + std::to_string((a.valid_until - clock_.t) / 1ms);
    }
    for (const auto& node : zoo_.children(line))
      wrong_ += "\n  " + node + " of " + std::to_string(zoo_.owner(line + '/' + node));
    wrong_ += log_;
  }
  void note(const std::string& what) {
    if (std::getenv("MISHAPS_LOG") == nullptr) return;
    log_ += "\n" + std::to_string((clock_.t - began_) / 1ms) + ' ' + what;
  }

  void note_change(std::int64_t session, const std::vector<std::string>& before,
                   const std::vector<std::string>& after) {
    for (const auto& node : before) {
      if (std::ranges::find(after, node) == after.end()) note("  removed " + node + " by " + std::to_string(session));
    }
    for (const auto& node : after) {
      if (std::ranges::find(before, node) == before.end()) note("  made " + node + " by " + std::to_string(session));
    }
  }

  void tick(bool go_on) {
    clock_.t += 10ms;
    if (go_on && once_in(every_)) mishap();
    if (server_.stops_at && clock_.t > stops_until_) server_.stops_at.reset();
    end_sessions();
    server_.work();
    for (auto& p : programs_) {
      if (clock_.t < p.stands_until) continue;
      p.value->run(clock_.now());
      for (actor& a : p.all) act(a, go_on);
      if (clock_.t >= p.keeps_at) keep(p);
      p.value->run(clock_.now());
    }
    server_.work();
    check();
  }

  void end_sessions() {
    for (const auto& [session, last] : heard_) {
      if (session == 0 || ended_.contains(session) || clock_.t - last < ended_after) continue;
      note("session " + std::to_string(session) + " ends");
      ended_.insert(session);
      zoo_.end(session);
      server_.hang_up(session);
    }
  }

  void mishap() {
    using wire::op;
    constexpr std::array ops{op::create_stat, op::multi,        op::remove, op::set_data,
                             op::get_data,    op::get_children, op::multi};
    auto& p = programs_.at(static_cast<std::size_t>(upto(3)));
    switch (upto(breaks_ ? 8 : 7)) {
      case 0: note("all hung up"); return server_.hang_up();
      case 1: {
        if (heard_.empty()) return;
        auto at = heard_.begin();
        std::advance(at, upto(static_cast<int>(heard_.size())));
        note("hung up " + std::to_string(at->first));
        return server_.hang_up(at->first);
      }
      case 2:
      case 3: {
        const auto what = ops.at(static_cast<std::size_t>(upto(ops.size())));
        note("swallows " + std::to_string(static_cast<int>(what)));
        server_.swallows = what;
        return;
      }
      case 4:
        server_.stops_at = ops.at(static_cast<std::size_t>(upto(ops.size())));
        stops_until_ = clock_.t + some(50, once_in(4) ? 9000 : 1500);
        note("stops at " + std::to_string(static_cast<int>(*server_.stops_at)) + " for " +
             std::to_string((stops_until_ - clock_.t) / 1ms));
        return;
      case 5:
        if (!once_in(3)) return;
        p.stands_until = clock_.t + some(100, once_in(4) ? 12'000 : 2500);
        note("program stands still for " + std::to_string((p.stands_until - clock_.t) / 1ms));
        return;
      case 6:
        if (!once_in(3)) return;
        silent_until_ = clock_.t + some(100, 6000);
        note("no greeting for " + std::to_string((silent_until_ - clock_.t) / 1ms));
        return;
      default: return take_away(p);
    }
  }

  // An operator, or another client.
  void take_away(program& p) {
    const auto all = zoo_.children(line);
    if (all.empty()) return;
    const auto& node = all.at(static_cast<std::size_t>(upto(static_cast<int>(all.size()))));
    const auto c = layout_.read(node);
    if (!c) return;
    broken_.insert(c->who);
    note("takes away " + node);
    if (once_in(2)) return zoo_.remove(line + '/' + node);
    const auto who = c->who;
    p.value->evict({who, "name"}, "test", [](outcome<fate>&&) {});
  }

  void act(actor& a, bool go_on) {
    if (a.pending) {
      if (clock_.t - a.called > called_within + 12s) complain("a call did not return");
      return;
    }
    if (clock_.t < a.next) return;
    switch (a.is) {
      case state::idle:
        if (!go_on || !once_in(30)) return;
        a.who = ids_.next();
        a.how = permits_ ? mode::permit : once_in(few_shared_) ? mode::shared : mode::exclusive;
        a.take = permits_ ? 1 + static_cast<std::uint32_t>(upto(2)) : 1;
        a.slots.clear();
        a.lost = false;
        a.part = 0;
        a.since = clock_.t;
        a.is = state::wants;
        return acquire(a);
      case state::wants: return acquire(a);
      case state::waits:
        if (a.woken) return acquire(a);
        if (go_on && once_in(2000)) return leave(a);
        return;
      case state::upgrades:
        if (clock_.t >= a.valid_until || once_in(1000)) return leave(a);
        if (a.woken) return acquire(a);
        return;
      case state::has:
        if (clock_.t >= a.valid_until) return leave(a);
        if (go_on && layout_.is_own() && !permits_ && once_in(converts_every_))
          return convert(a, a.how == mode::shared ? mode::exclusive : mode::shared);
        if (!go_on || once_in(40)) return leave(a);
        return;
      case state::leaves: return leave(a);
    }
  }

  void is_gone(actor& a) {
    if (a.is == state::leaves) return;
    note("gone " + core::to_hex(a.who));
    if (a.holds()) {
      a.lost = true;
      if (!a.pending) a.is = state::idle;
    }
    if (a.is == state::waits) a.is = state::wants;
  }

  void acquire(actor& a) {
    engine::request r;
    r.what = {a.who, "name", a.is == state::upgrades ? mode::exclusive : a.how};
    r.take = a.take;
    r.capacity = permits_ ? capacity : 1;
    r.ttl = hold_ttl;
    r.waiter_ttl = place_ttl;
    r.not_after = 5s;
    r.enqueue = true;
    r.seen = a.home->seen;
    a.pending = true;
    a.woken = false;
    a.called = clock_.t;
    note("acquire " + core::to_hex(a.who) + (a.how == mode::shared ? " shared" : ""));
    a.home->value->acquire(r, [this, &a](outcome<answer>&& o) { acquired(a, o); });
  }

  void acquired(actor& a, const outcome<answer>& o) {
    a.pending = false;
    if (a.lost) return end(a);
    const auto* f = std::get_if<engine::failure>(&o.result);
    if (f != nullptr) {
      note("failed " + core::to_hex(a.who) + ' ' + f->words);
      a.next = clock_.t + 50ms;
      if (f->kind == engine::why::refused) {
        complain("refused: " + f->words);
        a.is = state::leaves;
      }
      if (a.is == state::upgrades) a.woken = true;
      if (a.is == state::waits) a.is = state::wants;
      return;
    }
    const auto& is = std::get<answer>(o.result);
    if (const auto* g = std::get_if<engine::granted>(&is))
      return granted(a, *g, o.sent, a.is == state::upgrades ? mode::exclusive : a.how);
    note("queued " + core::to_hex(a.who));
    if (a.is == state::wants) a.is = state::waits;
  }

  void granted(actor& a, const engine::granted& g, time_point sent, mode how) {
    note("granted " + core::to_hex(a.who) + ' ' + std::to_string(g.part));
    if (permits_) {
      for (const auto slot : g.slots) {
        if (g.part != a.part && g.part <= std::exchange(of_slots_[slot], g.part))
          complain("a token of a slot ran back");
      }
      if (g.slots.size() != a.take) complain("not as many slots as were asked for");
      a.slots = g.slots;
    } else if (g.part != a.part) {
      const auto least = how == mode::exclusive ? std::max(max_exclusive_, max_shared_) : max_exclusive_;
      const bool in_order = how == mode::exclusive ? g.part > least : g.part > least;
      if (!in_order && !(how == mode::shared && a.alone()))
        complain("a token ran back: " + std::to_string(g.part) + " after " + std::to_string(least));
    }
    (how == mode::exclusive ? max_exclusive_ : max_shared_) =
        std::max(how == mode::exclusive ? max_exclusive_ : max_shared_, g.part);
    a.home->seen = std::max(a.home->seen, g.part);
    a.how = how;
    a.part = g.part;
    a.is = state::has;
    a.valid_until = sent + g.ttl - margin(g.ttl);
    ++grants_;
  }
  static milliseconds margin(milliseconds ttl) { return std::max(milliseconds{10}, ttl / 20); }

  void convert(actor& a, mode to) {
    a.pending = true;
    a.called = clock_.t;
    a.woken = false;
    note("convert " + core::to_hex(a.who) + (to == mode::shared ? " shared" : " exclusive"));
    if (to == mode::shared) a.how = mode::shared;  // whoever asks for it has given up the other
    a.home->value->convert({a.who, "name"}, to, 5s, [this, &a, to](outcome<answer>&& o) {
      a.pending = false;
      if (a.lost) return end(a);
      const auto* f = std::get_if<engine::failure>(&o.result);
      note("converted " + core::to_hex(a.who) + (f != nullptr ? ' ' + f->words : ""));
      if (f != nullptr) {
        a.is = state::leaves;
        return;
      }
      const auto& is = std::get<answer>(o.result);
      if (const auto* g = std::get_if<engine::granted>(&is)) {
        const auto until = a.valid_until;
        granted(a, *g, o.sent, to);
        a.valid_until = std::max(a.valid_until, until);
      } else if (std::holds_alternative<engine::queued>(is)) {
        a.is = state::upgrades;
      }
    });
  }

  void leave(actor& a) {
    a.is = state::leaves;
    a.pending = true;
    a.called = clock_.t;
    note("release " + core::to_hex(a.who));
    a.home->value->release({a.who, "name"}, true, [this, &a](outcome<fate>&& o) {
      a.pending = false;
      note("released " + core::to_hex(a.who));
      a.next = clock_.t + 100ms;
      if (std::holds_alternative<fate>(o.result)) end(a);
    });
  }
  void end(actor& a) {
    a.is = state::idle;
    a.lost = false;
  }

  void keep(program& p) {
    p.keeps_at = clock_.t + 700ms;
    for (const auto as : {fate::holding, fate::waiting}) {
      std::vector<engine::target> some;
      for (const actor& a : p.all) {
        if (as == fate::holding ? a.holds() : a.is == state::waits) some.push_back({a.who, "name"});
      }
      if (some.empty()) continue;
      const auto ttl = milliseconds{as == fate::holding ? hold_ttl : place_ttl};
      std::vector<id> who;
      for (const auto& t : some) who.push_back(t.who);
      p.value->keep(some, as, ttl, [this, &p, who](outcome<engine::kept>&& o) { kept(p, who, o); });
    }
  }

  void kept(program& p, const std::vector<id>& who, const outcome<engine::kept>& o) {
    const auto* k = std::get_if<engine::kept>(&o.result);
    for (std::size_t i = 0; k != nullptr && i < who.size(); ++i) {
      actor* a = p.find(who[i]);
      if (a == nullptr) continue;
      if (k->fates[i] == fate::gone) is_gone(*a);
      if (k->fates[i] == fate::holding && a->holds())
        a->valid_until = std::max(a->valid_until, o.sent + k->ttl - margin(k->ttl));
    }
  }

  void check() {
    int alone = 0, together = 0;
    std::set<std::uint32_t> taken;
    for (const auto& p : programs_) {
      for (const actor& a : p.all) {
        if (!a.holds() || a.lost || clock_.t >= a.valid_until || broken_.contains(a.who)) continue;
        ++(a.alone() ? alone : together);
        for (const auto slot : a.slots) {
          if (!taken.insert(slot).second) complain("a slot was given twice");
        }
      }
    }
    if (alone > 1 || (alone == 1 && together > 0)) complain("two at a time");
  }
  bool all_idle() const {
    return std::ranges::all_of(programs_, [](const program& p) {
      return std::ranges::all_of(p.all, [](const actor& a) { return a.is == state::idle; });
    });
  }

  std::mt19937 random_;
  const bool breaks_;
  const layout layout_;
  const int every_, few_shared_, converts_every_;
  const bool permits_;
  const std::string line = layout_.path_of("name");
  own_server server_;
  small_zookeeper zoo_{server_};
  still_clock clock_;
  const time_point began_ = clock_.t;
  core::random_ids ids_;
  std::deque<program> programs_ = std::deque<program>(3);
  std::map<std::int64_t, time_point> heard_;
  std::set<std::int64_t> ended_;
  std::set<id> broken_;
  time_point silent_until_{}, stops_until_{};
  std::map<std::uint32_t, std::uint64_t> of_slots_;
  std::uint64_t max_exclusive_ = 0, max_shared_ = 0;
  int grants_ = 0;
  std::string wrong_, log_;
};

unsigned number_in(const char* name, unsigned otherwise) {
  const char* words = std::getenv(name);
  return words != nullptr ? static_cast<unsigned>(std::strtoul(words, nullptr, 10)) : otherwise;
}

// MISHAPS_SEED and MISHAPS_COUNT: others; MISHAPS_LOG: what happened, where something is wrong.
void try_some(protocol p, unsigned otherwise, unsigned from = 1) {
  const auto first = number_in("MISHAPS_SEED", from), count = number_in("MISHAPS_COUNT", otherwise);
  for (auto seed = first; seed < first + count; ++seed) {
    mishaps m{seed, seed % 2 == 0, p};
    m.run();
    EXPECT_EQ(m.wrong(), "") << "MISHAPS_SEED=" << seed;
    EXPECT_GT(m.grants(), 10) << seed;
  }
}

TEST(zookeeper_mishaps, leave_one_at_a_time_and_nobody_behind) { try_some(protocol::own, 8); }
// Its node went while it was asked for again.
TEST(zookeeper_mishaps, gave_a_slot_twice) { try_some(protocol::own, 1, 35); }
TEST(zookeeper_mishaps, leave_nobody_behind_in_the_line_of_curator) { try_some(protocol::curator_rw, 3); }
TEST(zookeeper_mishaps, leave_nobody_behind_in_the_line_of_kazoo) { try_some(protocol::kazoo, 3); }

}  // namespace

}  // namespace tyer::zookeeper::test
