// The lock itself: acquire, keep, release, and the loop.
#include "engines/compose/redlock/redlock.hpp"

#include "engines/compose/redlock/glue.hpp"
#include "engines/compose/redlock/merge.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>

namespace tyer::redlock {

using namespace std::chrono_literals;

namespace {

// Whoever lost tries again after about so long, doubled with every loss: nobody tells when the lock is free.
constexpr milliseconds retry_least{8}, retry_most{128};

constexpr milliseconds close_limit{150};  // for answers that are still to come

affair::setting setting_of(const std::vector<part>& nodes, milliseconds node_timeout, const seam::environment& e,
                           const presence& there) {
  affair::setting s{{}, e.request_timeout, node_timeout, &there};
  for (const part& p : nodes) s.names.push_back(p.name);
  return s;
}

// Not push: who waits is not woken. That a hold was broken, or is asked for, is passed on as the nodes tell it.
seam::capabilities able(const std::vector<part>& nodes) {
  const auto node = nodes.front().value->can();
  return {.token = true, .ttl_min = std::max(node.ttl_min, 10 * drift_least), .keep_batch = node.keep_batch};
}

}  // namespace

redlock_engine::redlock_engine(std::vector<part> nodes, milliseconds node_timeout, const seam::environment& e,
                               std::shared_ptr<seam::inbox> box, milliseconds remembers)
    : environment_(e),
      setting_(setting_of(nodes, node_timeout, e, presence_)),
      inbox_(std::move(box)),
      can_(able(nodes)),
      presence_(setting_.names, node_timeout),
      remembers_(remembers),
      random_(static_cast<std::minstd_rand::result_type>(e.ids->nonce())) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes_.push_back(std::make_unique<node>(i, std::move(nodes[i].value), *e.clock));
  }
}

redlock_engine::~redlock_engine() {
  // In a forked child the threads did not come along, and whatever they held is held for ever: let everything lie.
  if (opened_in_ != 0 && opened_in_ != ::getpid()) {
    for (auto& n : nodes_) static_cast<void>(n.release());
    static_cast<void>(new std::shared_ptr<seam::inbox>{inbox_});
    return;
  }
  if (opened_in_ == 0) return;
  for (const auto& n : nodes_) n->ask_to_stop();
  for (const auto& n : nodes_) n->stop();
}

void redlock_engine::open(seam::events& e) {
  events_ = &e;
  opened_in_ = ::getpid();
  for (const auto& n : nodes_) n->start(*this, inbox_);
}

// ---- acquire and release

redlock_engine::records::iterator redlock_engine::record_of(const id& who) {
  return records_.try_emplace(who, setting_).first;
}

void redlock_engine::acquire(const seam::request& r, reply<answer> back) {
  const char* cannot = nullptr;
  if (r.what.how != mode::exclusive) cannot = "redlock:// has exclusive locks only";
  if (r.lock_delay != 0ms) cannot = "redlock:// has no lock_delay";
  if (is_of_another_name(r.what)) cannot = "this id is in use for another name";
  if (refuses(back, cannot)) return;
  auto what = std::make_shared<errand>(errand{r, std::string{r.what.name}, std::string{r.owner}});
  what->what.enqueue = false;
  record& mine = record_of(r.what.who)->second;
  mine.what = std::move(what);
  mine.acquiring.push_back(std::move(back));
  mine.business.acquire(r.ttl, std::max(r.not_after, 0ms), now());
  attend(r.what.who);
}

void redlock_engine::release(const target& t, bool, reply<fate> back) {
  if (refuses(back)) return;
  if (is_of_another_name(t)) return release_stranger(t, std::move(back));
  record& mine = record_of(t.who)->second;
  if (mine.what == nullptr) mine.what = std::make_shared<errand>(errand{{}, std::string{t.name}, {}});
  mine.releasing.push_back(std::move(back));
  mine.business.release(now());
  attend(t.who);
}

bool redlock_engine::is_of_another_name(const target& t) const {
  const auto at = records_.find(t.who);
  return at != records_.end() && at->second.what->name != t.name;
}

void redlock_engine::release_stranger(const target& t, reply<fate> back) {
  auto done = [this, back = std::move(back)](survey<fate>& s) mutable {
    if (!s.has_majority()) return give(back, outcome<fate>{s.sent(), s.shortage(setting_.names)});
    give(back, outcome<fate>{s.sent(), fate::gone});
  };
  ask_all<fate>(nullptr, std::move(done), [who = t.who, name = std::string{t.name}](seam::engine& e, reply<fate> told) {
    e.release({who, name, mode::exclusive}, true, std::move(told));
  });
}

// Does what the machine wants, and tells what it has found out. Replies come last: they may change anything.
void redlock_engine::attend(const id& who) {
  const auto at = records_.find(who);
  if (at == records_.end()) return;
  record& r = at->second;
  for (const auto& o : r.business.take_orders()) send(who, r, o);
  auto acquired = r.business.take_acquired();
  auto released = r.business.take_released();
  const auto losses = r.business.losses();
  std::vector<reply<answer>> acquiring;
  std::vector<reply<fate>> releasing;
  if (acquired) acquiring.swap(r.acquiring);
  if (released) releasing.swap(r.releasing);
  schedule(who, r);
  for (auto& back : acquiring) give(back, to_outcome(*acquired, losses));
  for (auto& back : releasing) give(back, outcome<fate>{released->sent, released->was});
}

// Drops what is over.
void redlock_engine::schedule(const id& who, record& r) {
  if (r.due != time_point::max()) dues_.erase({r.due, who});
  r.due = r.business.due();
  if (r.business.over(now())) {
    records_.erase(who);
  } else if (r.due != time_point::max()) {
    dues_.emplace(r.due, who);
  }
}

template <class T, class F>
void redlock_engine::carry(const id& who, const affair::order& o, std::size_t i, F call) {
  nodes_[i]->post([this, who, o, call = std::move(call), box = inbox_](seam::engine& e) mutable {
    call(e, reply<T>{[this, who, o, box](outcome<T>&& said) {
           box->put([this, who, o, said = std::move(said)](seam::events*) mutable {
             const auto at = records_.find(who);
             if (at == records_.end()) return;
             affair& a = at->second.business;
             if constexpr (std::is_same_v<T, answer>) {
               a.on_acquired(o, std::move(said.result), now());
             } else if (o.what == affair::order::kind::lift) {
               a.on_lifted(o, std::move(said.result), now());
             } else {
               a.on_released(o, said.sent, std::move(said.result), now());
             }
             attend(who);
           });
         }});
  });
}

void redlock_engine::send(const id& who, record& r, const affair::order& o) {
  using kind = affair::order::kind;
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

outcome<answer> redlock_engine::to_outcome(std::variant<affair::won, affair::lost> result, std::uint32_t losses) {
  if (const auto* w = std::get_if<affair::won>(&result)) return {w->sent, answer{seam::granted{w->part, w->ttl}}};
  auto& l = std::get<affair::lost>(result);
  if (auto* f = std::get_if<failure>(&l.why)) return {l.sent, std::move(*f)};
  return {l.sent, answer{seam::busy{hint(std::get<milliseconds>(l.why), losses)}}};
}

// Jittered: those who lost against each other must not meet again.
milliseconds redlock_engine::hint(milliseconds left, std::uint32_t losses) {
  const auto most = std::min(retry_most, retry_least * (1u << std::min(losses, 8u)));
  const milliseconds wait{std::uniform_int_distribution<std::int64_t>{most.count() / 2, most.count()}(random_)};
  return std::clamp(wait, 1ms, std::max(left, 1ms));
}

// ---- keep

void redlock_engine::keep(std::span<const target> all, fate as, milliseconds ttl, reply<seam::kept> back) {
  if (refuses(back)) return;
  auto what = std::make_shared<std::vector<std::pair<id, std::string>>>();
  for (const target& t : all) what->emplace_back(t.who, std::string{t.name});
  const auto count = to_count(ttl);
  auto knows = [ids = what->size()](const survey<seam::kept>& s) {
    const auto fates = tally(s, ids);
    return s.has_majority() && std::ranges::find(fates, fate::unknown) == fates.end();
  };
  auto done = [this, what, ttl, back = std::move(back)](survey<seam::kept>& s) mutable {
    if (s.good() == 0) return give(back, outcome<seam::kept>{s.sent(), s.shortage(setting_.names)});
    auto fates = tally(s, what->size());
    const auto proven = counted_by_all(s);
    on_tallied(*what, fates, s, s.sent() + proven);
    give(back, outcome<seam::kept>{s.sent(), seam::kept{std::move(fates), std::clamp(good_for(proven), 0ms, ttl)}});
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
    affair& business = at->second.business;
    if (fates[i] == fate::gone) business.on_gone(now());
    if (fates[i] == fate::holding) {
      business.on_kept(until);
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const auto* said = s.of(n);
        if (said != nullptr && i < said->fates.size() && said->fates[i] == fate::gone) business.win_back(n, now());
      }
    }
    attend(what[i].first);
  }
}

// ---- nodes

void redlock_engine::on_up(std::size_t i, const seam::server_facts& facts, time_point told) {
  presence_.note_clock(i, facts.clock, told);
  tell(presence_.on_up(i, facts, now()));
  std::vector<id> all;
  for (auto& [who, r] : records_) {
    r.business.on_up(i, now());
    all.push_back(who);
  }
  for (const id& who : all) attend(who);
}

void redlock_engine::on_down(std::size_t i, const failure& f) {
  if (environment_.log) environment_.log(log_level::warning, setting_.names[i] + " is away: " + f.words);
  tell(presence_.on_down(i, f, now()));
}

// One node has forgotten it: that proves nothing. A majority makes it worth a question.
void redlock_engine::on_suspect(std::size_t i, const id& who) {
  const auto at = records_.find(who);
  if (at == records_.end()) return;
  auto& by = at->second.suspected_by;
  by |= std::uint64_t{1} << i;
  if (static_cast<std::size_t>(std::popcount(by)) < majority(nodes_.size())) return;
  by = 0;
  if (!closed_) events_->suspect(who);
}

void redlock_engine::on_asked(std::size_t, const id& who, const std::string& reason) {
  if (!closed_) events_->asked(who, reason);
}

void redlock_engine::tell(presence::news n) {
  if (closed_) return;
  if (n == presence::news::up) events_->up(presence_.facts());
  if (n == presence::news::down) events_->down(presence_.absence());
}

// ---- the loop

void redlock_engine::run(time_point until) {
  auto all = inbox_->take(waiting_until(until));
  struct inside {
    bool& flag;
    explicit inside(bool& f) : flag(f) { flag = true; }
    ~inside() { flag = false; }
  } const in{running_};
  for (auto& d : all) d(events_);
  tick();
  if (closing_) finish_close();
}

void redlock_engine::tick() {
  const auto t = now();
  while (!dues_.empty() && dues_.begin()->first <= t) {
    const auto who = dues_.begin()->second;
    record& r = records_.at(who);
    r.business.on_time(t);
    attend(who);
  }
  tell(presence_.on_time(t));
  const auto all = surveys_;
  for (const auto& s : all) s->on_time(t);
  std::erase_if(surveys_, [](const auto& s) { return s->over(); });
}

seam::inbox::deadline redlock_engine::waiting_until(time_point until) const {
  using std::chrono::steady_clock;
  if (!dues_.empty()) until = std::min(until, dues_.begin()->first);
  for (const auto& s : surveys_) until = std::min(until, s->due());
  until = std::min(until, presence_.due());
  if (closing_) until = std::min(until, outstanding_ == 0 ? time_point::min() : close_by_);
  const auto t = now();
  if (until <= t) return steady_clock::time_point{};
  if (!environment_.clock->flows()) return std::nullopt;
  // The condition variable knows no CLOCK_BOOTTIME: only the difference counts. Capped, since it may be "for ever".
  return steady_clock::now() + std::min<duration>(until - t, std::chrono::hours{1});
}

void redlock_engine::close(reply<seam::done> back) {
  closed_ = true;
  closing_ = std::move(back);
  close_by_ = now() + close_limit;
  inbox_->wake();
}

void redlock_engine::finish_close() {
  const auto t = now();
  if (outstanding_ > 0 && t < close_by_) return;
  const failure f{why::unknown, make_error_code(errc::closed), "the engine was closed before it answered"};
  while (!surveys_.empty()) {
    const auto all = std::exchange(surveys_, {});
    for (const auto& s : all) s->give_up(t);
  }
  dues_.clear();
  for (auto& [who, r] : std::exchange(records_, {})) {
    for (auto& back : r.acquiring) give(back, outcome<answer>{t, f});
    for (auto& back : r.releasing) give(back, outcome<fate>{t, f});
  }
  for (const auto& n : nodes_) n->ask_to_stop();
  std::exchange(closing_, nullptr)({t, seam::done{}});
}

}  // namespace tyer::redlock
