// When the slot map is read and from which node, and what follows from it.
#include "engines/redis/deployment/cluster/cluster.hpp"
#include "engines/redis/deployment/pace.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::redis {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds ask_every{5000}, ask_least{150}, ask_most{2500};  // the latter two in trouble
constexpr seconds scouts_after{1};     // of trouble, even if masters answer: they may be the ones that are cut off
constexpr seconds give_up_after{5};    // other nodes' claims override those of a master that is away for this long
constexpr seconds unneeded_after{10};  // a connection to a node without slots
constexpr std::size_t scouts_max = 16;

std::string shown(const core::endpoint& e) { return e.host + ':' + std::to_string(e.port); }

}  // namespace

bool cluster::troubled() const {
  if (map_.without_master() > 0) return true;
  return std::any_of(shards_.begin(), shards_.end(), [](const auto& s) { return s->slots > 0 && !s->link.is_up(); });
}

void cluster::ask(shard& s) {
  if (s.asked || !s.link.is_up()) return;
  s.asked = true;
  s.link.command("CLUSTER", std::array<std::string_view, 1>{"NODES"}, [this, &s](const received& r) {
    s.asked = false;
    if (closing_) return;
    if (r.wrong == nullptr && !r.words.empty()) return heard(s, r.words[0]);
    s.trouble = shown(s.link.server()) + (r.wrong != nullptr ? ": " + r.wrong->words : " has no map of a cluster");
    complain();
  });
}

// Asks one random node while all is well; else all of them.
void cluster::ask_somebody(time_point t) {
  const bool trouble = troubled();
  const auto pause = trouble ? pace(t - troubled_since_, ask_least, ask_most) : ask_every;
  next_ask_ = t + pause / 2 + milliseconds{random_() % static_cast<unsigned>(pause.count())};
  if (trouble) {
    for (auto& s : shards_) ask(*s);
    for (auto& s : scouts_) ask(*s);
  } else {
    ask(*shards_[random_() % shards_.size()]);
  }
}

void cluster::heard(shard& from, std::string_view text) {
  auto nodes = read_nodes(text, from.link.server().host);
  if (std::none_of(nodes.begin(), nodes.end(), [](const node& n) { return !n.slots.empty(); })) {
    from.trouble = shown(from.link.server()) + " knows of no master with slots: is it a node of a cluster?";
    return complain();
  }
  from.trouble.clear();
  nodes_ = std::move(nodes);
  const bool changed = map_.learn(nodes_, known_as(from.link.server()), m_.clock->now(),
                                  [this](const core::endpoint& e) { return given_up(e); });
  redraw();
  if (!changed) return;
  if (m_.log) {
    m_.log(log_level::info, "the slots of the cluster have other masters, as " + shown(from.link.server()) + " says");
  }
  if (!announced_ && !shards_.empty() && shards_.front()->link.is_up()) announce(shards_.front()->link.facts());
}

bool cluster::given_up(const core::endpoint& e) const {
  const shard* s = find(e);
  return s == nullptr || (!s->link.is_up() && m_.clock->now() - s->away_since >= give_up_after);
}

// A node may be reported by its address although we know it by its host name.
core::endpoint cluster::known_as(const core::endpoint& told) const {
  for (const auto& n : nodes_) {
    if (n.at.port == told.port && n.address == told.host) return n.at;
  }
  return told;
}

// After the map has changed: makes a connection for every master, in the order of their slots. A former replica has refused
// us until now, so its backoff is reset.
void cluster::redraw() {
  for (auto& s : shards_) s->had_none = std::exchange(s->slots, 0) == 0;
  by_claim_.clear();
  for (const auto& c : map_.claims()) {
    if (c.slots > 0) at(c.master).slots += c.slots;
    by_claim_.push_back(c.slots > 0 ? find(c.master) : nullptr);
  }
  for (auto& s : shards_) {
    if (s->had_none && s->slots > 0) s->link.hurry();
  }
  choose_marks();
  std::vector<const shard*> order;
  for (std::uint32_t slot = 0; slot < slots_in_all; ++slot) {
    const shard* s = of_slot(static_cast<std::uint16_t>(slot));
    if (s != nullptr && (order.empty() || order.back() != s)) order.push_back(s);
  }
  std::stable_sort(shards_.begin(), shards_.end(), [&](const auto& a, const auto& b) {
    return std::find(order.begin(), order.end(), a.get()) < std::find(order.begin(), order.end(), b.get());
  });
  wakeups_.follow();
}

// Makes a few tries for each master. A master without slots has no mark: its grants while it takes its first slot are not
// confirmed.
void cluster::choose_marks() {
  if (m_.where.replicas == 0) return;
  for (auto& s : shards_) s->mark.clear();
  auto missing = std::count_if(shards_.begin(), shards_.end(), [](const auto& s) { return s->slots > 0; });
  for (std::uint32_t i = 0; missing > 0 && i < 4 * slots_in_all; ++i) {
    auto key = m_.inbox + '{' + std::to_string(i) + '}';
    shard* s = of_slot(hash_slot(key));
    if (s == nullptr || !s->mark.empty()) continue;
    s->mark = std::move(key);
    --missing;
  }
}

void cluster::announce(const engine::server_facts& f) {
  if (closing_ || (!announced_ && troubled())) return;
  announced_ = true;
  complained_ = false;
  outer_->on_up(of_all(f));
}

// Who the masters are, in the order of their slots, so that one who watches sees which of them is another.
engine::server_facts cluster::of_all(engine::server_facts f) const {
  constexpr std::size_t enough = 8;  // of an id
  f.id.clear();
  for (const auto& s : shards_) {
    if (s->slots == 0) continue;
    if (!f.id.empty()) f.id += ',';
    f.id += s->link.is_up() ? s->link.facts().id.substr(0, enough) : "-";
  }
  return f;
}

engine::failure cluster::nobody_told() const {
  std::string words = "no node of the cluster has said yet who has its slots";
  for (const auto& s : scouts_) {
    if (!s->trouble.empty()) words += "; " + s->trouble;
  }
  const bool refused = !scouts_.empty() && std::all_of(scouts_.begin(), scouts_.end(), [](const auto& s) {
    return !s->link.is_up() && s->link.absence().kind == engine::why::refused;
  });
  return {refused ? engine::why::refused : engine::why::not_sent,
          make_error_code(refused ? errc::refused : errc::unavailable), std::move(words)};
}

// Once no node is left that could answer.
void cluster::complain() {
  if (closing_ || complained_ || scouts_.empty() || map_.without_master() < slots_in_all) return;
  if (std::any_of(scouts_.begin(), scouts_.end(), [](const auto& s) { return s->trouble.empty(); })) return;
  complained_ = true;
  outer_->on_down(nobody_told());
}

void cluster::look_after_scouts(time_point t) {
  const bool trouble = troubled();
  if (trouble && !std::exchange(in_trouble_, trouble)) troubled_since_ = t;
  in_trouble_ = trouble;
  const bool somebody = std::any_of(shards_.begin(), shards_.end(), [](const auto& s) { return s->link.is_up(); });
  if (!trouble || (somebody && t - troubled_since_ < scouts_after)) {
    for (auto& s : std::exchange(scouts_, {})) {
      s->close();
      leaving_.push_back(std::move(s));
    }
    return;
  }
  if (!scouts_.empty()) return;
  auto wanted = m_.where.seeds;
  for (const auto& n : nodes_) {
    if (std::find(wanted.begin(), wanted.end(), n.at) == wanted.end()) wanted.push_back(n.at);
  }
  if (wanted.size() > scouts_max) wanted.resize(scouts_max);
  for (const auto& e : wanted) {
    scouts_.push_back(
        std::make_unique<shard>(static_cast<shard::host&>(*this), *loop_, m_, e, connection::use::asking));
    scouts_.back()->open();
  }
}

void cluster::look_after_shards(time_point t) {
  for (auto& s : shards_) {
    if (s->slots > 0) s->needed = t;
    if (t - s->needed < unneeded_after) continue;
    s->close();
    leaving_.push_back(std::move(s));
  }
  std::erase(shards_, nullptr);
}

void cluster::tick(time_point t) {
  if (closing_ || outer_ == nullptr || t < next_ask_) return;
  look_after_scouts(t);
  look_after_shards(t);
  detours_.forget_old(t);
  ask_somebody(t);
}

engine::time_point cluster::due() const { return closing_ || outer_ == nullptr ? time_point::max() : next_ask_; }

}  // namespace tyer::redis
