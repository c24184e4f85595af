#include "engines/etcd/frame.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto drain_max = 500ms;
constexpr auto lasting = 250ms;                 // most holds are shorter, and need no watch
constexpr std::size_t caught_up_at_once = 100;  // of a transaction; etcd allows 128 operations in one

}  // namespace

bool names_a_lost_lease(const failure& f) { return f.words.find("lease not found") != f.words.npos; }
bool says_no_space(const failure& f) { return f.words.find("database space exceeded") != f.words.npos; }

frame::frame(const config& c, const tyer::engine::environment& e, std::string probe_key)
    : config_(c),
      environment_(e),
      loop_(*e.clock),
      link_(c, e, loop_, box_, std::move(probe_key)),
      leases_(link_, e),
      watches_(link_, *e.clock, [this](const std::string& reason) { may_not_watch(reason); }) {
  overdue::listener told;
  told.swept = [this, box = box_](std::vector<sweeper::verdict> all, std::shared_ptr<overdue::errand> asked) {
    box->put([this, all = std::move(all), asked = std::move(asked)] { swept(all, *asked); });
  };
  told.failed = [this, box = box_](const wire::status& s) {
    box->put([this, old = is_old_token(s)] {
      if (!old) return;
      link_.log_in_anew();
      if (link_.is_up()) link_.when_logged_in([](const failure*) {});  // nothing else may be asked for long
    });
  };
  overdue_ = std::make_shared<overdue>(*e.clock, link_.sweeping(), e.request_timeout, std::move(told));
}

void frame::swept(const std::vector<sweeper::verdict>& all, overdue::errand& asked) {
  bool whole = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      swept(all[i]);
      asked.settled(i);
    } catch (const std::bad_alloc&) {  // of one key, which is looked for again; the others are told all the same
      whole = false;
    }
  }
  if (!whole) throw std::bad_alloc{};
}

void frame::swept(const sweeper::verdict& v) {
  v.what.modified != 0 ? gave_up(v.what.key, v.what.modified, v.there.mod_revision() == 0)
                       : found_written(v.what.key, v.there);
}

// Nothing is lost by that, but all that would be pushed is found only by looking.
void frame::may_not_watch(const std::string& reason) {
  if (!environment_.log) return;
  environment_.log(log_level::error,
                   "etcd: the server refuses watches, so that turns, losses and changes are found late: " + reason +
                       " (whoever locks a name must be allowed to read its keys)");
}

// What is told from now on, it is told to nobody.
frame::~frame() {
  overdue_->close();
  box_->shut();
  for (const auto& o : operations_) o->drop();
}

void frame::open(tyer::engine::events& e) {
  events_ = &e;
  if (config_.tls && !config_.verify && environment_.log) {
    environment_.log(log_level::warning, "etcd: ?verify=none, anybody can pose as the server");
  }
  link_.open(*this);
}

// Watches and what is known of keys would wait for revisions that come again only much later, with something else.
void frame::on_set_back(std::int64_t revision) {
  if (environment_.log) {
    environment_.log(log_level::warning,
                     "etcd: revisions run backwards, and with them tokens. Was the data restored from a copy? "
                     "(etcdutl snapshot restore --bump-revision prevents it)");
  }
  watches_.set_back(revision);
  set_back(revision);
}

void frame::on_up(const tyer::engine::server_facts& f) {
  if (closed_) return;
  watches_.on_up();
  look_for_turns();
  events_->up(f);
}

void frame::on_down(const failure& f) {
  leases_.on_down();
  watches_.on_down();
  if (!closed_) events_->down(f);
}

// --- one operation after the other, for each name ---

void frame::enqueue(const op& o, std::function<void()> start) {
  auto& queue = queues_[o->name];
  queue.emplace_back(o, std::move(start));
  if (queue.size() == 1) {
    const auto go = queue.front().second;
    go();
  }
}

void frame::next_of(const op& o) {
  const auto at = queues_.find(o->name);
  if (at == queues_.end() || at->second.empty() || at->second.front().first != o) return;
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

void frame::fail(const op& o, failure f) {
  if (!o->over()) std::exchange(o->fail, nullptr)(std::move(f));
  next_of(o);
}

bool frame::too_late(const op& o) {
  if (environment_.clock->now() < o->not_after) return false;
  fail(o, no(why::not_sent, errc::unavailable, "it would have been executed after its not_after"));
  return true;
}

// After a compaction and a new connection that may be all that this client has: so they are read together.
void frame::catch_up(const id& who, const std::string& key) { to_catch_up_.emplace_back(who, key); }

void frame::catch_up_all() {
  while (!to_catch_up_.empty()) {
    const auto n = std::min(to_catch_up_.size(), caught_up_at_once);
    const auto from = to_catch_up_.end() - static_cast<std::ptrdiff_t>(n);
    catch_up_some({from, to_catch_up_.end()});
    to_catch_up_.erase(from, to_catch_up_.end());
  }
}

void frame::catch_up_some(std::vector<std::pair<id, std::string>> some) {
  pb::TxnRequest t;
  for (const auto& [who, key] : some) t.add_success()->mutable_request_range()->set_key(key);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), environment_.clock->now() + environment_.request_timeout,
      [this, some = std::move(some)](const failure* f, pb::TxnResponse& answer) {
        if (closed_) return;
        if (f == nullptr) link_.saw(answer.header());
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto& [who, key] = some[i];
          if (!has(who)) continue;
          if (f == nullptr) {
            caught_up(who, key, answer.responses(static_cast<int>(i)).response_range(), answer.header().revision());
          } else {  // keep() finds out what it is; and it is watched again, which tells of the gap again
            watch_when_lasting(who);
            events_->suspect(who);
          }
        }
      });
}

// It is watched from what it was read as of: its last write may be forgotten for long, and would be a gap each time.
void frame::caught_up(const id& who, const std::string& key, const pb::RangeResponse& there, std::int64_t revision) {
  pb::Event e;
  if (there.kvs_size() == 0) {
    e.set_type(pb::Event::DELETE);
    e.mutable_kv()->set_key(key);
    e.mutable_kv()->set_mod_revision(revision);
  } else {
    *e.mutable_kv() = there.kvs(0);
  }
  own_changed(who, e);
  watch_own_from(who, revision);
}

// --- the loop ---

void frame::run(time_point until) {
  if (stumbled_) start_anew();
  stumbled_ = true;  // unless this comes to its end
  bool whole = true;
  const auto now = environment_.clock->now();
  link_.tick(now);
  until = std::min(until, next_event());
  if (!loop_.run(box_->empty() ? until : now)) whole = false;
  for (auto& d : box_->take()) {
    try {
      d();
    } catch (const std::bad_alloc&) {  // of one thing that came; the others are told all the same
      whole = false;
    }
  }
  const auto after = environment_.clock->now();
  link_.tick(after);
  link_.leave_if_silent(after);
  start_due_watches(after);
  watches_.try_again(after);
  if (!closed_) catch_up_all();
  if (!closed_ && next_look() <= after) look_now(after);
  overdue_->ring_if_late();
  give_up_overdue(after);
  if (closing_) finish_close();
  stumbled_ = !whole;
}

// Memory ran out in the midst of something. What was asked is unknown at its deadline; whatever the server would have told is
// told again, since all that is watched is watched anew from where it was.
void frame::start_anew() {
  link_.start_anew();
  leases_.start_anew();
}

time_point frame::next_event() const {
  auto next = link_.next();
  if (!operations_.empty()) next = std::min(next, operations_.front()->deadline);
  if (!to_watch_.empty()) next = std::min(next, to_watch_.front().first);
  if (!closed_) next = std::min({next, next_look(), watches_.next()});
  if (closing_) next = std::min(next, drained_by_);
  return next;
}

void frame::give_up_overdue(time_point now) {
  while (!operations_.empty() && (operations_.front()->over() || operations_.front()->deadline <= now)) {
    const auto o = std::move(operations_.front());
    operations_.pop_front();
    if (!o->over()) fail(o, no(why::unknown, errc::outcome_unknown, "no answer within the request_timeout"));
  }
}

void frame::watch_when_lasting(const id& who) { to_watch_.emplace_back(environment_.clock->now() + lasting, who); }

void frame::start_due_watches(time_point now) {
  while (!to_watch_.empty() && to_watch_.front().first <= now) {
    const auto who = to_watch_.front().second;
    to_watch_.pop_front();
    watch_lasting(who);
  }
}

void frame::close(reply<tyer::engine::done> back) {
  closed_ = true;
  closing_ = std::move(back);
  loop_.wake();
}

void frame::fail_all(bool also_those_that_give_back) {
  for (const auto& o : std::deque<op>{operations_}) {
    if (o->over() || (o->gives_back && !also_those_that_give_back)) continue;
    fail(o, no(why::unknown, errc::closed, "the engine was closed before it answered"));
  }
}

// What is being given back is waited for, everything else is answered at once. Then what is still under way is cancelled, and
// when that has come back nothing holds the connections any more.
void frame::finish_close() {
  const auto now = environment_.clock->now();
  if (drained_by_ == time_point::max()) {
    drained_by_ = now + drain_max;
    overdue_->close();
    to_watch_.clear();
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
    leases_.close(leases_of_holds());
  }
  if (!link_.idle() && now < drained_by_) return;
  link_.disconnect();
  std::exchange(closing_, nullptr)({now, tyer::engine::done{}});
}

// --- observers ---

void frame::watch(std::string_view name, bool on) {
  if (closed_) return;
  std::string n{name};
  if (const auto at = watched_.find(n); at != watched_.end()) {
    if (on) return;
    watches_.remove(at->second);
    watched_.erase(at);
    return;
  }
  if (!on) return;
  watched_[n] = watches_.add({.keys = watched_keys(n),
                              .from = link_.revision() != 0 ? link_.revision() + 1 : 0,
                              .with_previous = true,
                              .on_event =
                                  [this, n](const pb::Event& e) {
                                    if (!is_of(n, e.kv().key())) return;
                                    of_holders(n, e) ? events_->changed(n) : events_->queue_changed(n);
                                  },
                              .on_gap =
                                  [this, n] {
                                    watched_.erase(n);
                                    events_->changed(n);
                                    watch(n, true);
                                  },
                              .on_refused = [this, n] { events_->changed(n); }});
}

}  // namespace tyer::etcd
