// The frame of the engine: opening, the loop, the queue of each name, closing.
#include "engine/table.hpp"
#include "engines/etcd/core.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto drain_max = 500ms;
constexpr std::size_t keep_batch = 100;  // one read each in a transaction of at most 128 operations

}  // namespace

etcd_engine::etcd_engine(const config& c, const tyer::engine::environment& e)
    : config_(c),
      environment_(e),
      keys_(e.prefix),
      link_(c, e, box_, keys_.beginning_with("").from),
      leases_(link_, e),
      watches_(link_) {
  dues_ = std::make_shared<dues>(*e.clock, [this, box = box_](const std::string& key, std::int64_t modified) {
    link_.fire(key, modified, environment_.request_timeout, [this, box, key, modified](bool deleted) {
      box->put([this, key, modified, deleted] { gave_up(key, modified, deleted); });
    });
  });
}

etcd_engine::~etcd_engine() {
  dues_->close();
  box_->shut();
}

tyer::engine::capabilities etcd_engine::can() const noexcept {
  return {.queue = true,
          .shared = true,
          .permits = true,
          .push = true,
          .token = true,
          .convert = true,
          .lock_delay = false,
          .watch = true,
          .ttl_min = 1ms,  // a hold's end is its client's doing; only after a crash it is the lease's, 2 s at the least
          .keep_batch = keep_batch};
}

void etcd_engine::open(tyer::engine::events& e) {
  events_ = &e;
  link_.open(*this);
}

void etcd_engine::on_up(const tyer::engine::server_facts& f) {
  if (closed_) return;
  watches_.on_up();
  std::vector<id> waiting;
  for (const auto& [who, m] : mine_) {
    if (m.waits || m.upgrading) waiting.push_back(who);
  }
  for (const auto& who : waiting) look_ahead(who);  // what was asked while nobody could be reached
  events_->up(f);
}

void etcd_engine::on_down(const failure& f) {
  leases_.on_down();
  watches_.on_down();
  if (!closed_) events_->down(f);
}

// --- one operation after the other, for each name ---

void etcd_engine::enqueue(const op& o, std::function<void()> start) {
  auto& queue = queues_[o->name];
  queue.emplace_back(o, std::move(start));
  if (queue.size() == 1) {
    const auto go = queue.front().second;
    go();
  }
}

void etcd_engine::next_of(const op& o) {
  const auto at = queues_.find(o->name);
  if (at == queues_.end() || at->second.front().first != o) return;
  at->second.pop_front();
  while (!at->second.empty() && at->second.front().first->over()) at->second.pop_front();
  if (at->second.empty()) {
    queues_.erase(at);
    return;
  }
  const auto [next, go] = at->second.front();
  next->sent = next->counts_from = environment_.clock->now();  // it leaves only now
  go();
}

void etcd_engine::fail(const op& o, failure f) {
  if (!o->over()) std::exchange(o->fail, nullptr)(std::move(f));
  next_of(o);
}

// --- the loop ---

void etcd_engine::run(time_point until) {
  const auto now = environment_.clock->now();
  link_.tick(now);
  until = std::min(until, next_event());
  // The condition variable knows no CLOCK_BOOTTIME: only the difference counts. Capped, since it may be "for ever".
  const auto wait = until <= now ? lease_clock::duration{0} : std::min<lease_clock::duration>(until - now, 1h);
  for (auto& d : box_->take(std::chrono::steady_clock::now() + wait)) d();
  const auto after = environment_.clock->now();
  link_.tick(after);
  watch_and_look(after);
  give_up_overdue(after);
  if (closing_) finish_close();
}

time_point etcd_engine::next_event() const {
  auto next = link_.next();
  if (!operations_.empty()) next = std::min(next, operations_.front()->deadline);
  if (!to_watch_.empty()) next = std::min(next, to_watch_.front().first);
  if (!to_look_.empty()) next = std::min(next, to_look_.front().first);
  if (closing_) next = std::min(next, drained_by_);
  return next;
}

void etcd_engine::give_up_overdue(time_point now) {
  while (!operations_.empty() && (operations_.front()->over() || operations_.front()->deadline <= now)) {
    const auto o = std::move(operations_.front());
    operations_.pop_front();
    if (!o->over()) fail(o, no(why::unknown, errc::unknown, "no answer within the request time-out"));
  }
}

void etcd_engine::close(reply<tyer::engine::done> back) {
  closed_ = true;
  closing_ = std::move(back);
  box_->wake();
}

void etcd_engine::fail_all(bool also_those_that_give_back) {
  for (const auto& o : std::deque<op>{operations_}) {
    if (o->over() || (o->gives_back && !also_those_that_give_back)) continue;
    fail(o, no(why::unknown, errc::closed, "the engine was closed before it answered"));
  }
}

// What is being given back is waited for, everything else is answered at once. Then what is still under way is cancelled, and
// when that has come back nothing holds the connections any more.
void etcd_engine::finish_close() {
  const auto now = environment_.clock->now();
  if (drained_by_ == time_point::max()) {
    drained_by_ = now + drain_max;
    dues_->close();
    to_watch_.clear();
    to_look_.clear();
    watches_.close();
    fail_all(false);
  }
  const bool giving_back = std::ranges::any_of(operations_, [](const op& o) { return !o->over(); });
  if (giving_back && now < drained_by_) return;
  if (!cancelled_) {
    cancelled_ = true;
    drained_by_ = now + drain_max;
    fail_all(true);
    queues_.clear();
    link_.close();
    std::set<std::int64_t> in_use;
    for (const auto& [who, m] : mine_) {
      if (!m.waits && !m.handed_over) in_use.insert(m.lease);
    }
    leases_.close(in_use);
  }
  if (!link_.idle() && now < drained_by_) return;
  link_.disconnect();
  std::exchange(closing_, nullptr)({now, tyer::engine::done{}});
}

// --- observers ---

void etcd_engine::watch(std::string_view name, bool on) {
  if (closed_) return;
  std::string n{name};
  if (const auto at = watched_.find(n); at != watched_.end()) {
    if (on) return;
    watches_.remove(at->second);
    watched_.erase(at);
    return;
  }
  if (!on) return;
  watched_[n] = watches_.add({.keys = keys_.room(n),
                              .from = link_.revision() + 1,
                              .on_event = [this, n](const pb::Event&) { events_->changed(n); },
                              .on_gap =
                                  [this, n] {
                                    watched_.erase(n);
                                    events_->changed(n);
                                    watch(n, true);
                                  }});
}

}  // namespace tyer::etcd

TYER_EXPORT tyer::engine::made tyer_engine_etcd(tyer::core::uri& address, const tyer::engine::environment& e) {
  if (auto f = tyer::etcd::keys::check_prefix(e.prefix)) return {nullptr, std::move(f)};
  auto read = tyer::etcd::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<tyer::etcd::etcd_engine>(read.value, e), {}};
}
