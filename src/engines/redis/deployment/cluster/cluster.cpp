// Routes calls to masters, and handles their answers.
#include "engines/redis/deployment/cluster/cluster.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::redis {

namespace {

engine::failure not_sent(std::string words) {
  return {engine::why::not_sent, make_error_code(errc::unavailable), std::move(words)};
}

}  // namespace

cluster::cluster(loop& l, connection_factory m)
    : loop_(&l),
      m_(std::move(m)),
      random_(m_.seed),
      wakeups_(
          l, m_,
          [this](std::uint16_t slot) {
            const shard* s = of_slot(slot);
            return s == nullptr ? nullptr : &s->link.server();
          },
          outer_) {
  loop_->join(*this);
}

void cluster::open(connection::listener& l) {
  outer_ = &l;
  next_ask_ = m_.clock->now();
}

shard* cluster::of_slot(std::uint16_t slot) const noexcept {
  const auto claim = map_.owner(slot);
  return claim == slot_map::nobody ? nullptr : by_claim_[claim];
}

shard* cluster::find(const core::endpoint& e) const noexcept {
  const auto s = std::find_if(shards_.begin(), shards_.end(), [&](const auto& x) { return x->link.server() == e; });
  return s == shards_.end() ? nullptr : s->get();
}

shard& cluster::at(const core::endpoint& e) {
  if (shard* s = find(e)) return *s;
  shards_.push_back(std::make_unique<shard>(static_cast<shard::host&>(*this), *loop_, m_, e, connection::use::shard));
  shard& s = *shards_.back();
  s.needed = s.away_since = m_.clock->now();
  s.number = ++last_number_;
  s.open();
  return s;
}

engine::failure cluster::no_master(std::uint16_t slot) const {
  if (map_.without_master() == slots_in_all) return nobody_told();
  return not_sent("no master of the cluster has slot " + std::to_string(slot));
}

void cluster::later(core::function<void()> what) { later_.push_back(std::move(what)); }

void cluster::refuse(engine::failure f, reply_handler back) {
  later([this, f = std::move(f), back = std::move(back)]() mutable {
    const auto t = m_.clock->now();
    back({t, t, {}, &f, nullptr});
  });
}

void cluster::call(const script& s, std::span<const std::string_view> words, reply_handler back) {
  const auto slot = hash_slot(words[1]);
  shard* to = of_slot(slot);
  if (closing_) return refuse(not_sent("the client was closed"), std::move(back));
  if (to == nullptr) return refuse(no_master(slot), std::move(back));
  to->link.call(s, words, std::move(back));
}

std::uint32_t cluster::group(std::string_view key) const {
  const shard* s = of_slot(hash_slot(key));
  return s == nullptr ? 0 : detours_.group(key, s->number);
}

const server_clock& cluster::clock(std::string_view key) const {
  const shard* s = of_slot(hash_slot(key));
  return s == nullptr ? no_clock_ : s->link.clock();
}

void cluster::read_clocks() {
  for (auto& s : shards_) s->link.read_clock();
}

void cluster::confirm(const core::endpoint& server, std::string_view, confirmed back) {
  shard* s = find(server);
  if (s != nullptr && s->witness != nullptr && !s->mark.empty())
    return s->witness->confirm(s->link.facts().id, s->mark, std::move(back));
  later([back = std::move(back)]() mutable {
    const engine::failure f{engine::why::unknown, make_error_code(errc::unavailable),
                            "the master has changed before replicas confirmed it"};
    back(&f);
  });
}

std::vector<connection*> cluster::masters() {
  std::vector<connection*> all;
  for (auto& s : shards_) {
    if (s->slots > 0) all.push_back(&s->link);
  }
  return all;
}

// A redirection is outdated if the slot has another master by now: then later requests may have gone there already.
//
// A renewal may be one of many that are answered together. Until its name is known to be on a detour, it belongs to the
// group of the old master, so it does not follow the redirection: it is sent again, in a group of its own.
bool cluster::on_redirected(shard& from, std::string_view error, const script& s,
                            std::span<const std::string_view> words, reply_handler& back) {
  const auto r = read_redirection(error, from.link.server().host);
  if (!r || of_slot(r->slot) != &from) return false;
  if (r->for_good) {
    if (map_.moved(r->slot, known_as(r->to))) redraw();
    next_ask_ = std::min(next_ask_, m_.clock->now());
    return false;
  }
  shard& to = at(known_as(r->to));
  to.needed = m_.clock->now();
  const bool news = detours_.note(words[1], from.number, to.number, to.needed);
  if (news) to.link.hurry();
  if (!to.link.is_up() || (news && is_renewal(s))) return false;
  const auto ahead = to.link.clock().latest(to.needed) - from.link.clock().latest(to.needed);
  std::vector<std::string_view> said{words.begin(), words.end()};
  std::string packed;
  if (said.size() > 3) {
    packed = m_.scripts.for_another_clock(s.name, said[3], ahead);
    said[3] = packed;
  }
  to.link.call_asking(s, said, std::move(back));
  return true;
}

void cluster::on_up(shard& s, const engine::server_facts& f) {
  s.trouble.clear();
  s.away = false;
  ask(s);
  if (s.slots > 0) announce(f);
}

void cluster::on_down(shard& s, const engine::failure& f) {
  const auto now = m_.clock->now();
  if (!std::exchange(s.away, true)) s.away_since = now;  // else it is only the reason that is another
  s.trouble = f.words;
  next_ask_ = std::min(next_ask_, now);
  if (s.slots == 0) return complain();
  auto words = f.words + "; " + std::to_string(s.slots) + " of " + std::to_string(slots_in_all) +
               " slots are without a master until it is back or replaced";
  outer_->on_down({f.kind, f.code, std::move(words)});
}

// Every node delivers every message to its own subscribers: one subscription is enough.
void cluster::on_message(shard& s, std::string_view text) {
  const auto first = std::find_if(shards_.begin(), shards_.end(), [](const auto& x) { return x->link.is_up(); });
  if (first != shards_.end() && first->get() == &s) outer_->on_message(text);
}

bool cluster::ready() const {
  return !later_.empty() || all_closed() ||
         std::any_of(leaving_.begin(), leaving_.end(), [](const auto& s) { return s->closed; });
}

void cluster::deliver() {
  for (auto& what : std::exchange(later_, {})) what();
  std::erase_if(leaving_, [](const auto& s) { return s->closed; });
  if (all_closed() && later_.empty()) std::exchange(closed_, nullptr)();
}

void cluster::close(core::function<void()> done) {
  closing_ = true;
  closed_ = std::move(done);
  for (auto* all : {&shards_, &scouts_}) {
    for (auto& s : std::exchange(*all, {})) {
      s->close();
      leaving_.push_back(std::move(s));
    }
  }
  std::fill(by_claim_.begin(), by_claim_.end(), nullptr);
  wakeups_.close();
}

std::unique_ptr<deployment> make_cluster(loop& l, connection_factory m) {
  return std::make_unique<cluster>(l, std::move(m));
}

}  // namespace tyer::redis
