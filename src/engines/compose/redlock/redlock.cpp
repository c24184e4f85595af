// The lock itself: acquire, keep, release, and the loop.
#include "engines/compose/redlock/redlock.hpp"

#include "engines/compose/redlock/merge.hpp"
#include "engines/compose/redlock/templates.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>
#include <utility>

namespace tyer::redlock {

using namespace std::chrono_literals;

namespace {

// A client that lost retries after about this time, doubled with every loss: no node announces when the lock is free.
constexpr milliseconds retry_least{8}, retry_most{128};

quorum_lock::setting setting_of(const std::vector<unstarted_node>& nodes, milliseconds node_timeout,
                                const seam::environment& e, const nodes_up& there) {
  quorum_lock::setting s{{}, e.request_timeout, node_timeout, &there};
  for (const unstarted_node& p : nodes) s.names.push_back(p.name);
  return s;
}

// No push: waiters are not woken. Evictions and requests to release are passed on as the nodes report them.
seam::capabilities able(const std::vector<unstarted_node>& nodes) {
  const auto node = nodes.front().value->can();
  return {.token = true, .ttl_min = std::max(node.ttl_min, 10 * drift_least), .keep_batch = node.keep_batch};
}

}  // namespace

redlock_engine::redlock_engine(std::vector<unstarted_node> nodes, milliseconds node_timeout, const seam::environment& e,
                               std::shared_ptr<seam::inbox> box, milliseconds remembers)
    // The machines have time-outs of their own, with better messages: the time-out of a call is only a fallback.
    : engine_base(e,
                  {.scheme = "redlock://",
                   .request_timeout = e.request_timeout + node_timeout,
                   .waits_for = kit::draining::everything,
                   .drain_max = node::close_limit},
                  std::move(box)),
      setting_(setting_of(nodes, node_timeout, e, nodes_up_)),
      can_(able(nodes)),
      nodes_up_(setting_.names, node_timeout),
      remembers_(remembers),
      random_(static_cast<std::minstd_rand::result_type>(e.ids->nonce())) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes_.push_back(std::make_unique<node>(i, std::move(nodes[i].value), *e.clock));
  }
}

redlock_engine::~redlock_engine() {
  // A forked child has none of the threads, and mutexes that they held stay locked: destroy nothing.
  if (opened_in_ != 0 && opened_in_ != ::getpid()) {
    for (auto& n : nodes_) static_cast<void>(n.release());
    static_cast<void>(new std::shared_ptr<seam::inbox>{box()});
    return;
  }
  if (opened_in_ == 0) return;
  for (const auto& n : nodes_) n->ask_to_stop();
  for (const auto& n : nodes_) n->stop();
  fall_silent();
}

void redlock_engine::do_open() {
  opened_in_ = ::getpid();
  for (const auto& n : nodes_) n->start(*this, box());
}

// ---- acquire and release

redlock_engine::records::iterator redlock_engine::record_of(const id& who) {
  return records_.try_emplace(who, setting_).first;
}

void redlock_engine::do_acquire(const seam::request& r, const call_ptr<answer>& c) {
  if (is_of_another_name(r.what)) {
    return calls().fail(*c, kit::no(why::unsupported, errc::unsupported, "this id is in use for another name"));
  }
  auto what = std::make_shared<errand>(errand{r, std::string{r.what.name}, std::string{r.owner}});
  what->what.enqueue = false;
  record& mine = record_of(r.what.who)->second;
  mine.what = std::move(what);
  mine.acquiring.push_back(c);
  mine.lock.acquire(r.ttl, std::max(r.not_after, 0ms), now());
  attend(r.what.who);
}

void redlock_engine::do_release(const target& t, bool, const call_ptr<fate>& c) {
  if (is_of_another_name(t)) return release_stranger(t, c);
  record& mine = record_of(t.who)->second;
  if (mine.what == nullptr) mine.what = std::make_shared<errand>(errand{{}, std::string{t.name}, {}});
  mine.releasing.push_back(c);
  mine.lock.release(now());
  attend(t.who);
}

bool redlock_engine::is_of_another_name(const target& t) const {
  const auto at = records_.find(t.who);
  return at != records_.end() && at->second.what->name != t.name;
}

void redlock_engine::release_stranger(const target& t, const call_ptr<fate>& c) {
  auto done = [this, c](survey<fate>& s) {
    s.has_majority() ? give<fate>(c, s.sent(), fate::gone) : give<fate>(c, s.sent(), s.shortage(setting_.names));
  };
  ask_all<fate>(nullptr, std::move(done), [who = t.who, name = std::string{t.name}](seam::engine& e, reply<fate> told) {
    e.release({who, name, mode::exclusive}, true, std::move(told));
  });
}

// Carries out the machine's requests and delivers its results. Replies come last: they may change anything.
void redlock_engine::attend(const id& who) {
  const auto at = records_.find(who);
  if (at == records_.end()) return;
  record& r = at->second;
  for (const auto& o : r.lock.take_requests()) {
    try {
      send(who, r, o);
    } catch (const std::bad_alloc&) {  // treated as unanswered: the machine has its own time-out
    }
  }
  auto acquired = r.lock.take_acquired();
  auto released = r.lock.take_released();
  const auto losses = r.lock.losses();
  std::vector<call_ptr<answer>> acquiring;
  std::vector<call_ptr<fate>> releasing;
  if (acquired) acquiring.swap(r.acquiring);
  if (released) releasing.swap(r.releasing);
  schedule(who, r);
  const auto sent_of = [](const auto& said) { return said.sent; };
  for (const auto& c : acquiring) give(c, std::visit(sent_of, *acquired), to_answer(*acquired, losses));
  for (const auto& c : releasing) give<fate>(c, released->sent, released->was);
}

// Removes records that are over.
void redlock_engine::schedule(const id& who, record& r) {
  if (r.due != time_point::max()) dues_.erase({r.due, who});
  r.due = r.lock.due();
  if (r.lock.over(now())) {
    records_.erase(who);
  } else if (r.due != time_point::max()) {
    try {
      dues_.emplace(r.due, who);
    } catch (const std::bad_alloc&) {
      r.due = time_point::max();
      unscheduled_ = true;
    }
  }
}

template <class T, class F>
void redlock_engine::carry(const id& who, const quorum_lock::node_request& o, std::size_t i, F call) {
  nodes_[i]->post([this, who, o, call = std::move(call), box = box()](seam::engine& e) mutable {
    call(e, reply<T>{[this, who, o, box](outcome<T>&& said) {
           box->put([this, who, o, said = std::move(said)](seam::events*) mutable {
             const auto at = records_.find(who);
             if (at == records_.end()) return;
             quorum_lock& a = at->second.lock;
             if constexpr (std::is_same_v<T, answer>) {
               a.on_acquired(o, std::move(said.result), now());
             } else if (o.what == quorum_lock::node_request::kind::lift) {
               a.on_lifted(o, std::move(said.result), now());
             } else {
               a.on_released(o, said.sent, std::move(said.result), now());
             }
             attend(who);
           });
         }});
  });
}

void redlock_engine::send(const id& who, record& r, const quorum_lock::node_request& o) {
  using kind = quorum_lock::node_request::kind;
  const auto what = r.what;
  if (o.what == kind::acquire) {
    return carry<answer>(who, o, o.node, [what, part = o.part](seam::engine& e, reply<answer> back) {
      auto request = what->what;
      request.seen = std::max(request.seen, part > 0 ? part - 1 : 0);
      request.what.name = what->name;
      request.owner = what->owner;
      e.acquire(request, std::move(back));
    });
  }
  carry<fate>(who, o, o.node, [what, who, o](seam::engine& e, reply<fate> back) {
    const target t{who, what->name, mode::exclusive};
    if (o.what == kind::lift) return e.lift(t, o.part, std::move(back));
    e.release(t, true, std::move(back));
  });
}

result<answer> redlock_engine::to_answer(const std::variant<quorum_lock::won, quorum_lock::lost>& said,
                                         std::uint32_t losses) {
  if (const auto* w = std::get_if<quorum_lock::won>(&said)) return answer{seam::granted{w->part, w->ttl}};
  const auto& l = std::get<quorum_lock::lost>(said);
  if (const auto* f = std::get_if<failure>(&l.why)) return *f;
  return answer{seam::busy{hint(std::get<milliseconds>(l.why), losses)}};
}

// With jitter, so that clients that collided do not collide again.
milliseconds redlock_engine::hint(milliseconds left, std::uint32_t losses) {
  const auto most = std::min(retry_most, retry_least * (1u << std::min(losses, 8u)));
  const milliseconds wait{std::uniform_int_distribution<std::int64_t>{most.count() / 2, most.count()}(random_)};
  return std::clamp(wait, 1ms, std::max(left, 1ms));
}

// ---- keep

void redlock_engine::do_keep(std::span<const target> all, fate as, milliseconds ttl, const call_ptr<seam::kept>& c) {
  auto what = std::make_shared<std::vector<std::pair<id, std::string>>>();
  for (const target& t : all) what->emplace_back(t.who, std::string{t.name});
  const auto count = to_count(ttl);
  auto knows = [ids = what->size()](const survey<seam::kept>& s) {
    const auto fates = tally(s, ids);
    return s.has_majority() && std::ranges::find(fates, fate::unknown) == fates.end();
  };
  auto done = [this, what, ttl, c](survey<seam::kept>& s) {
    if (s.good() == 0) return give<seam::kept>(c, s.sent(), s.shortage(setting_.names));
    auto fates = tally(s, what->size());
    if (const auto* f = refusal(s, fates)) return give<seam::kept>(c, s.sent(), *f);
    const auto proven = counted_by_all(s);
    on_tallied(*what, fates, s, s.sent() + proven);
    give<seam::kept>(c, s.sent(), seam::kept{std::move(fates), std::clamp(good_for(proven), 0ms, ttl)});
  };
  ask_all<seam::kept>(std::move(knows), std::move(done), [what, as, count](seam::engine& e, reply<seam::kept> told) {
    std::vector<target> targets;
    for (const auto& [who, name] : *what) targets.push_back({who, name});
    e.keep(targets, as, count, std::move(told));
  });
}

void redlock_engine::on_tallied(const std::vector<std::pair<id, std::string>>& what, const std::vector<fate>& fates,
                                const survey<seam::kept>& s, time_point until) {
  for (std::size_t i = 0; i < what.size(); ++i) {
    const auto at = records_.find(what[i].first);
    if (at == records_.end()) continue;
    quorum_lock& lock = at->second.lock;
    if (fates[i] == fate::gone) lock.on_gone(now());
    if (fates[i] == fate::holding) {
      lock.on_kept(until);
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const auto* said = s.of(n);
        if (said != nullptr && i < said->fates.size() && said->fates[i] == fate::gone) lock.win_back(n, now());
      }
    }
    attend(what[i].first);
  }
}

// ---- nodes

void redlock_engine::on_up(std::size_t i, const seam::server_facts& facts, time_point told) {
  nodes_up_.note_clock(i, facts.clock, told);
  tell(nodes_up_.on_up(i, facts, now()));
  std::vector<id> all;
  for (auto& [who, r] : records_) {
    r.lock.on_up(i, now());
    all.push_back(who);
  }
  for (const id& who : all) attend(who);
}

void redlock_engine::on_down(std::size_t i, const failure& f) {
  if (around().log) around().log(log_level::warning, setting_.names[i] + " is away: " + f.words);
  tell(nodes_up_.on_down(i, f, now()));
}

// One node that has forgotten the hold proves nothing. If a majority has, the hold is checked.
void redlock_engine::on_suspect(std::size_t i, const id& who) {
  const auto at = records_.find(who);
  if (at == records_.end()) return;
  auto& by = at->second.suspected_by;
  by |= std::uint64_t{1} << i;
  if (static_cast<std::size_t>(std::popcount(by)) < majority(nodes_.size())) return;
  by = 0;
  if (told() != nullptr) told()->suspect(who);
}

void redlock_engine::on_asked(std::size_t, const id& who, const std::string& reason) {
  if (told() != nullptr) told()->asked(who, reason);
}

void redlock_engine::tell(nodes_up::news n) {
  if (closed()) return;
  if (n == nodes_up::news::up) told()->up(nodes_up_.facts());
  if (n == nodes_up::news::down) told()->down(nodes_up_.absence());
}

// ---- the loop

void redlock_engine::on_time(time_point t) {
  if (std::exchange(unscheduled_, false)) {
    for (auto at = records_.begin(); at != records_.end();) {
      const auto who = at->first;
      record& r = (at++)->second;
      schedule(who, r);
    }
  }
  while (!dues_.empty() && dues_.begin()->first <= t) {
    const auto who = dues_.begin()->second;
    record& r = records_.at(who);
    r.lock.on_time(t);
    attend(who);
  }
  tell(nodes_up_.on_time(t));
  const auto all = surveys_;
  for (const auto& s : all) s->on_time(t);
  std::erase_if(surveys_, [](const auto& s) { return s->over(); });
}

time_point redlock_engine::next_due() const {
  if (unscheduled_) return now() + retry_least;  // there may be memory then
  auto next = nodes_up_.due();
  if (!dues_.empty()) next = std::min(next, dues_.begin()->first);
  for (const auto& s : surveys_) next = std::min(next, s->due());
  return next;
}

bool redlock_engine::has_let_go(time_point) {
  surveys_.clear();
  dues_.clear();
  records_.clear();
  for (const auto& n : nodes_) n->ask_to_stop();
  return true;
}

}  // namespace tyer::redlock
