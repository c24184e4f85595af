// A ledger makes a kit::resource of etcd's keys for each operation, and keys of what it has decided; memory:// keeps a resource
// from one operation to the next. The same random operations on both must bring the same answers, the same holders with the same
// slots, the same queue, and tokens in the same order: then nothing is lost on the way to the keys and back.
//
// They differ, and on purpose, in:
//   - time: a resource ends what has expired; of a ledger the server has done so. Here no time passes.
//   - lock delays: a resource has ghosts; a ledger refuses (unsupported).
//   - `hint` and `look_again`: a resource knows when its holds end; a ledger only how long they may last at most.
//   - `ttl` of a conversion's answer: the ledger leaves it to the engine.
//   - parts of tokens: microseconds that count on; revision × 128 + place. Their order is the same.
#include "engines/etcd/ledger.hpp"
#include "engines/kit/resource.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

const keys names{"p:"};
constexpr std::uint32_t waiters_max = 6;  // few, so that it is reached

// What lies at a server about one name. Each operation reads it, decides, and writes what it has marked.
class written_name {
 public:
  template <class F>
  auto operate(F f) {
    auto l = read();
    auto result = f(l);
    write(l);
    return result;
  }

  ledger read() const {
    pb::RangeResponse r;
    for (const auto& [key, kv] : keys_) *r.add_kvs() = kv;
    return std::get<ledger>(ledger::from(names, r, revision_));
  }

  void put(const id& who, const pb::Record& record) {
    ++revision_;
    auto& kv = keys_[names.seat("n", who)];
    if (kv.create_revision() == 0) kv.set_create_revision(revision_);
    kv.set_key(names.seat("n", who));
    kv.set_mod_revision(revision_);
    kv.set_value(write_value(record));
  }

 private:
  void write(ledger& l) {
    if (!l.dirty()) return;
    ++revision_;
    for (const seat& s : l.seats()) {
      const auto key = names.seat("n", s.at);
      if (s.removed) keys_.erase(key);
      if (s.removed || !s.dirty) continue;
      auto& kv = keys_[key];
      kv.set_key(key);
      if (s.fresh) kv.set_create_revision(revision_);
      kv.set_mod_revision(revision_);
      kv.set_value(write_value(s.record));
      kv.set_lease(s.lease);
    }
  }

  std::map<std::string, pb::KeyValue> keys_;
  std::int64_t revision_ = 100;
};

id id_of(std::uint64_t n) {
  std::string raw(16, 'x');
  for (int i = 0; i < 8; ++i) raw[static_cast<std::size_t>(8 + i)] = static_cast<char>(n >> (8 * i));
  return id::from(raw);
}

engine::request request_of(const id& who, mode how, std::uint32_t take, std::uint32_t capacity, bool enqueue) {
  engine::request r;
  r.what = {.who = who, .name = "n", .how = how};
  r.take = take;
  r.capacity = capacity;
  r.ttl = 10s;
  r.waiter_ttl = 3s;
  r.enqueue = enqueue;
  return r;
}

ledger::wish wish_of(const engine::request& r) {
  ledger::wish w;
  w.r = r;
  w.at = r.what.who;
  w.hold_lease = 7;
  w.hold_lease_ttl = 10s;
  w.place_lease_ttl = 3s;
  w.waiters_max = waiters_max;
  w.known = true;
  return w;
}

using answered = std::variant<answer, failure>;

std::string essence(const answered& r) {
  if (const auto* f = std::get_if<failure>(&r)) return "failure " + std::to_string(static_cast<int>(f->kind));
  const auto& a = std::get<answer>(r);
  if (const auto* q = std::get_if<engine::queued>(&a)) return "queued behind " + std::to_string(q->ahead);
  if (std::holds_alternative<engine::busy>(a)) return "busy";
  std::string text = "granted";
  for (const auto slot : std::get<engine::granted>(a).slots) text += ' ' + std::to_string(slot);
  return text;
}

std::string essence(fate f) { return f == fate::holding ? "holding" : f == fate::waiting ? "waiting" : "gone"; }

std::string hex(const id& who) { return std::to_string(who.serial()); }

// Who is there, and as what.
std::string state_of(const kit::resource& r) {
  std::vector<std::string> holders;
  for (const auto& h : r.holds()) {
    auto text = hex(h.who) + " mode " + std::to_string(static_cast<int>(h.how)) + (h.claimed() ? "" : " unclaimed") +
                (h.upgrading ? " upgrades" : "");
    for (const auto slot : h.slots) text += " #" + std::to_string(slot);
    holders.push_back(std::move(text));
  }
  std::ranges::sort(holders);
  std::string all;
  for (const auto& h : holders) all += h + "; ";
  all += "queue:";
  for (const auto& w : r.queue()) all += ' ' + hex(w.who);
  return all;
}

std::string state_of(const ledger& l) {
  std::vector<std::string> holders;
  for (const seat* s : l.holds()) {
    auto text = hex(s->who) + " mode " + std::to_string(static_cast<int>(s->how())) +
                (s->record.state() == pb::Record::HOLDING ? "" : " unclaimed") +
                (s->record.upgrading() ? " upgrades" : "");
    for (const auto slot : s->slots()) text += " #" + std::to_string(slot);
    holders.push_back(std::move(text));
  }
  std::ranges::sort(holders);
  std::string all;
  for (const auto& h : holders) all += h + "; ";
  all += "queue:";
  for (const seat* s : l.queue()) all += ' ' + hex(s->who);
  return all;
}

class ledger_and_model : public ::testing::Test {
 protected:
  struct party {
    id who;
    mode how;
    std::uint32_t take, capacity;
    bool enqueue;
  };

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random_); }

  party& somebody() {
    if (parties_.empty() || (parties_.size() < 12 && below(4) != 0)) {
      const mode how = modes_[below(modes_.size())];
      const bool permit = how == mode::permit;
      parties_.push_back({id_of(++last_), how, permit ? static_cast<std::uint32_t>(1 + below(3)) : 1,
                          permit ? static_cast<std::uint32_t>(below(10) == 0 ? 5 : 4) : 1, below(4) != 0});
      return parties_.back();
    }
    return parties_[below(parties_.size())];
  }

  void step() {
    party& p = somebody();
    switch (below(9)) {
      case 0: return release(p);
      case 1: return release(p);
      case 2: return convert(p);
      case 3: return convert(p);
      case 4: return ask();
      default: return acquire(p);
    }
  }

  void acquire(party& p) {
    const auto r = request_of(p.who, p.how, p.take, p.capacity, p.enqueue);
    expect_same("acquire", p, essence(written_.operate([&](ledger& l) { return l.acquire(wish_of(r)); })),
                essence(model_.acquire(r, {}, told_)));
  }
  void release(party& p) {
    expect_same("release", p, essence(written_.operate([&](ledger& l) { return l.remove(p.who); })),
                essence(model_.release(p.who, true, {}, told_)));
    p.who = id_of(++last_);  // a key that comes back is a new one, and goes behind the others
  }
  void convert(party& p) {
    const mode to = p.how == mode::shared ? mode::exclusive : mode::shared;
    const auto o = written_.operate([&](ledger& l) { return l.convert(p.who, to); });
    const auto expected = model_.convert(p.who, to, {}, told_);
    expect_same("convert", p, essence(o), essence(expected));
    const auto* a = std::get_if<answer>(&o);
    if (a != nullptr && !std::holds_alternative<engine::busy>(*a)) p.how = to;
  }
  void ask() {
    const auto asked = written_.operate([](ledger& l) { return l.ask("please").size(); });
    ASSERT_EQ(asked, model_.ask("please", {}, told_)) << story_;
  }

  void expect_same(const std::string& what, const party& p, const std::string& ledger_says,
                   const std::string& model_says) {
    story_ += "\n  " + what + " " + hex(p.who) + " (mode " + std::to_string(static_cast<int>(p.how)) + ", " +
              std::to_string(p.take) + (p.enqueue ? ", queues" : "") + "): " + model_says;
    ASSERT_EQ(ledger_says, model_says) << story_;
    const auto l = written_.read();
    ASSERT_EQ(state_of(l), state_of(model_)) << story_;
    expect_the_same_order(l);
  }

  // Of any two that hold now, the same one has the larger part.
  void expect_the_same_order(const ledger& l) {
    for (const seat* s : l.holds()) {
      for (const seat* other : l.holds()) {
        const auto mine = part_in_model(s->who), theirs = part_in_model(other->who);
        if (mine < theirs) {
          ASSERT_LT(s->part(), other->part()) << story_;
        }
      }
    }
    for (const seat* s : l.holds()) {
      const auto [at, is_new] = parts_.emplace(part_in_model(s->who), s->part());
      ASSERT_EQ(at->second, s->part()) << "a part has changed; " << story_;
      if (is_new && at != parts_.begin()) {
        ASSERT_GT(s->part(), std::prev(at)->second) << story_;
      }
    }
  }
  std::uint64_t part_in_model(const id& who) const {
    return std::ranges::find(model_.holds(), who, &kit::seat::who)->part;
  }

  void compare(std::vector<mode> modes) {
    modes_ = std::move(modes);
    for (unsigned seed = 1; seed <= 60 && !HasFatalFailure(); ++seed) {
      random_.seed(seed);
      story_ = "seed " + std::to_string(seed) + ":";
      parties_.clear();
      parts_.clear();
      written_ = {};
      kit::limits few;
      few.waiters = waiters_max;
      model_ = kit::resource{few};
      for (int i = 0; i < 80 && !HasFatalFailure(); ++i) step();
    }
  }

 private:
  std::mt19937 random_;
  std::vector<mode> modes_;
  std::vector<party> parties_;
  std::map<std::uint64_t, std::uint64_t> parts_;  // of the model, and of the ledger
  written_name written_;
  kit::resource model_;
  kit::notices told_;
  std::uint64_t last_ = 0;
  std::string story_;
};

TEST_F(ledger_and_model, exclusive) { compare({mode::exclusive}); }
TEST_F(ledger_and_model, exclusive_and_shared) { compare({mode::exclusive, mode::shared, mode::shared}); }
TEST_F(ledger_and_model, permits) { compare({mode::permit}); }
TEST_F(ledger_and_model, all_modes) { compare({mode::exclusive, mode::shared, mode::permit}); }

// --- what the random operations do not reach ---

// A gate that knows that token would refuse its hold.
TEST(ledger_like_model, a_waiter_that_asked_again_having_seen_more_was_given_a_token_below_it) {
  constexpr std::uint64_t seen = 1'000'000'000;  // above what either would count to
  written_name written;
  kit::resource model;
  kit::notices told;
  const auto holder = request_of(id_of(1), mode::exclusive, 1, 1, false);
  auto waiter = request_of(id_of(2), mode::exclusive, 1, 1, true);
  for (const auto& r : {holder, waiter}) {
    written.operate([&](ledger& l) { return l.acquire(wish_of(r)); });
    model.acquire(r, {}, told);
  }
  waiter.seen = seen;
  written.operate([&](ledger& l) { return l.acquire(wish_of(waiter)); });
  model.acquire(waiter, {}, told);
  written.operate([&](ledger& l) { return l.remove(holder.what.who); });
  model.release(holder.what.who, true, {}, told);
  EXPECT_GT(model.holds().front().part, seen);
  EXPECT_GT(written.read().holds().front()->part(), seen);
}

TEST(ledger_like_model, a_waiter_that_asks_again_having_seen_less_than_revisions_is_not_written) {
  written_name written;
  auto waiter = request_of(id_of(2), mode::exclusive, 1, 1, true);
  for (const auto& r : {request_of(id_of(1), mode::exclusive, 1, 1, false), waiter}) {
    written.operate([&](ledger& l) { return l.acquire(wish_of(r)); });
  }
  auto l = written.read();
  waiter.seen = static_cast<std::uint64_t>(l.revision()) * places_per_revision;
  l.acquire(wish_of(waiter));
  EXPECT_FALSE(l.dirty()) << "the token of any later write is above it";
}

TEST(ledger_like_model, holds_beyond_their_limit_were_handed_over) {
  written_name written;
  const auto most = kit::limits{}.holds;
  const auto reader = [](std::uint64_t n) { return request_of(id_of(n), mode::shared, 1, 1, true); };
  pb::Record record = ledger::place(wish_of(reader(1)));
  record.set_state(pb::Record::HOLDING);
  for (std::uint64_t n = 1; n <= most; ++n) written.put(id_of(n), record);
  const auto over_limit = [&] {
    const auto o = written.operate([&](ledger& l) { return l.acquire(wish_of(reader(most + 1))); });
    const auto* f = std::get_if<failure>(&o);
    return f != nullptr && f->kind == why::over_limit;
  };
  EXPECT_TRUE(over_limit());
  const auto writer = request_of(id_of(most + 2), mode::exclusive, 1, 1, true);
  EXPECT_EQ(essence(written.operate([&](ledger& l) { return l.acquire(wish_of(writer)); })), "queued behind 0");
  EXPECT_TRUE(over_limit()) << "nor does it wait, for it would have its turn beside all of them";

  written.put(id_of(most + 3), ledger::place(wish_of(reader(most + 3))));  // as an older Tyer lets it wait
  written.operate([&](ledger& l) { return l.remove(writer.what.who); });
  EXPECT_EQ(written.read().holds().size(), most);
  EXPECT_EQ(written.read().queue().size(), 1u);
}

// --- the differences ---

TEST(ledger_unlike_model, a_lock_delay_is_refused_by_the_ledger) {
  auto r = request_of(id_of(1), mode::exclusive, 1, 1, false);
  r.lock_delay = 1s;
  ledger l;
  const auto o = l.acquire(wish_of(r));
  ASSERT_TRUE(std::holds_alternative<failure>(o));
  EXPECT_EQ(std::get<failure>(o).kind, why::unsupported);
  kit::notices told;
  EXPECT_EQ(essence(kit::resource{}.acquire(r, {}, told)), "granted");
}

}  // namespace
}  // namespace tyer::etcd
