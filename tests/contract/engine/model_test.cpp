// The engine against the reference model: the same random operations must bring the same answers.
//
// Nothing expires here, so only the order of operations counts. A failure names its seed and the operations up to it.
#include "contract/engine/harness.hpp"
#include "core/token.hpp"
#include "engines/kit/resource.hpp"

#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <random>

namespace tyer::contract {

namespace {

const char* verb_of(mode m) {
  switch (m) {
    case mode::exclusive: return "exclusive";
    case mode::shared: return "shared";
    case mode::permit: return "permit";
  }
  return "?";
}

std::uint64_t part_in(const std::variant<answer, engine::failure>& r) {
  const auto* a = std::get_if<answer>(&r);
  const auto* g = a != nullptr ? std::get_if<engine::granted>(a) : nullptr;
  return g != nullptr ? g->part : 0;
}

// What must be equal: the kind of answer, the place in the queue, the slots. Times are the engine's own.
std::string essence(const std::variant<answer, engine::failure>& r) {
  if (std::holds_alternative<engine::failure>(r)) return "failure";
  const auto& a = std::get<answer>(r);
  if (const auto* q = std::get_if<engine::queued>(&a)) return "queued behind " + std::to_string(q->ahead);
  if (std::holds_alternative<engine::busy>(a)) return "busy";
  std::string text = "granted";
  for (const auto slot : std::get<engine::granted>(a).slots) text += ' ' + std::to_string(slot);
  return text;
}

std::string essence(fate f) { return f == fate::holding ? "holding" : f == fate::waiting ? "waiting" : "gone"; }

}  // namespace

class model_contract : public engine_contract {
 protected:
  struct party {
    client* from;
    want w;
  };

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random_); }

  void start(unsigned seed, const std::string& name, std::vector<mode> modes) {
    random_.seed(seed);
    name_ = name;
    modes_ = std::move(modes);
    model_ = kit::resource{};
    told_.clear();
    parts_.clear();
    parties_.clear();
    story_ = "seed " + std::to_string(seed) + ":";
  }

  party& somebody() {
    if (parties_.size() < 8 && below(3) != 0) {
      const std::array<client*, 3> clients{&a, &b, &c};
      client* from = clients[below(3)];
      const mode how = modes_[below(modes_.size())];
      want w = how == mode::permit ? from->permits(name_, static_cast<std::uint32_t>(1 + below(3)), 4)
                                   : from->wants(name_, how);
      w.enqueue = can().queue && below(4) != 0;
      if (can().lock_delay && below(3) == 0) w.lock_delay = 1h;  // a ghost outlives the test
      parties_.push_back({from, std::move(w)});
      return parties_.back();
    }
    if (parties_.empty()) return somebody();
    return parties_[below(parties_.size())];
  }

  void expect_same(const std::string& what, const party& p, const std::string& engine_says,
                   const std::string& model_says) {
    const auto index = &p - parties_.data();
    story_ += "\n  " + what + " #" + std::to_string(index) + " (" + verb_of(p.w.how) + " " + std::to_string(p.w.take) +
              (p.w.enqueue ? ", queues" : "") + "): " + model_says;
    ASSERT_EQ(engine_says, model_says) << story_;
  }

  void step() {
    party& p = somebody();
    switch (below(can().convert ? 7 : 6)) {
      case 0:
      case 1:
      case 2: return acquire(p);
      case 3: return keep(p);
      case 4: return release(p, below(3) != 0);
      case 5: return expect_same("evict", p, essence(a.evict(p.w)), essence(model_.evict(p.w.who, "test", {}, told_)));
      default: return convert(p);
    }
  }

  // Whoever has asked since needs no message any more: it knows more than that would tell.
  void forget_wakes(const party& p) {
    std::erase_if(told_, [&](const kit::notice& n) { return n.what == kit::notice::kind::wake && n.who == p.w.who; });
  }

  void keep(party& p) {
    const fate expected = model_.keep(p.w.who, fate::waiting, 60s, {}, told_);
    const bool is_being_told = std::ranges::any_of(told_, [&](const kit::notice& n) {
      return n.who == p.w.who && n.what != kit::notice::kind::asked;  // it was evicted, or it is its turn
    });
    const auto end = p.from->now() + patience;
    fate says = p.from->keep(p.w, fate::waiting, 60s);
    while (goes_by_what_it_heard() && is_being_told && says != expected && p.from->now() < end) {
      p.from->round_trip();
      says = p.from->keep(p.w, fate::waiting, 60s);
    }
    expect_same("keep", p, essence(says), essence(expected));
  }

  void release(party& p, bool clean) {
    forget_wakes(p);
    expect_same(clean ? "release" : "release unclean", p, essence(p.from->release(p.w, clean)),
                essence(model_.release(p.w.who, clean, {}, told_)));
  }

  void acquire(party& p) {
    forget_wakes(p);
    const auto o = p.from->acquire(p.w);
    const auto expected = model_.acquire(p.w.request(), {}, told_);
    expect_same("acquire", p, essence(o.result), essence(expected));
    expect_the_same_order(part_in(o.result), part_in(expected));
  }

  void convert(party& p) {
    if (p.w.how == mode::permit) return;
    forget_wakes(p);
    const mode to = p.w.how == mode::shared ? mode::exclusive : mode::shared;
    const auto o = p.from->convert(p.w, to);
    const auto expected = model_.convert(p.w.who, to, {}, told_);
    expect_same("convert", p, essence(o.result), essence(expected));
    expect_the_same_order(part_in(o.result), part_in(expected));
    const bool is_on_its_way = granted_in(o) != nullptr || queued_in(o) != nullptr;
    if (is_on_its_way) p.w.how = to;  // what it repeats from now on
  }

  // The engine counts as it likes, but a later grant of the model is a later one of the engine. Only between grants
  // that do not conflict may parts be equal.
  void expect_the_same_order(std::uint64_t part, std::uint64_t in_model) {
    if (in_model == 0 || !can().token) return;
    const auto [at, is_new] = parts_.emplace(in_model, part);
    ASSERT_EQ(at->second, part) << "the part of a grant has changed; " << story_;
    if (!is_new) return;
    const std::uint64_t apart = modes_.size() == 1 && modes_.front() == mode::exclusive ? 1 : 0;
    const auto before = at == parts_.begin() ? 0 : std::prev(at)->second;
    const auto after = std::next(at) == parts_.end() ? core::part_max : std::next(at)->second;
    ASSERT_GE(part, before + apart) << story_;
    ASSERT_LE(part + apart, after) << story_;
  }

  void expect_the_same_events() {
    if (!can().push) return;
    for (client* each : {&a, &b, &c}) each->round_trip();
    for (const auto& n : told_) {
      for (const auto& p : parties_) {
        if (p.w.who != n.who) continue;
        if (n.what == kit::notice::kind::wake) p.from->await(event::kind::wake, n.who);
        if (n.what == kit::notice::kind::gone) p.from->await_loss(n.who);
      }
    }
  }

  void compare(const std::string& room, std::vector<mode> modes) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
      start(seed, room + std::to_string(seed), modes);
      for (int i = 0; i < 60 && !HasFatalFailure(); ++i) step();
      if (HasFatalFailure()) return;
      expect_the_same_events();
    }
  }

 private:
  std::mt19937 random_;
  std::string name_, story_;
  std::vector<mode> modes_;
  std::vector<party> parties_;
  kit::resource model_;
  kit::notices told_;
  std::map<std::uint64_t, std::uint64_t> parts_;  // of the model, and of the engine
};

TEST_F(model_contract, exclusive) { compare("exclusive/", {mode::exclusive}); }

TEST_F(model_contract, exclusive_and_shared) {
  if (can().shared) compare("shared/", {mode::exclusive, mode::shared, mode::shared});
}

TEST_F(model_contract, permits) {
  if (can().permits) compare("permits/", {mode::permit});
}

TEST_F(model_contract, all_modes) {
  if (can().shared && can().permits) compare("all/", {mode::exclusive, mode::shared, mode::permit});
}

}  // namespace tyer::contract
