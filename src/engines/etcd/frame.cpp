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

frame::frame(const config& c, const tyer::engine::environment& e, std::string_view scheme, std::string probe_key)
    : engine_base(e, {.scheme = scheme,
                      .request_timeout = e.request_timeout,
                      .waits_for = kit::draining::what_gives_back,
                      .drain_max = drain_max}),
      config_(c),
      loop_(*e.clock),
      link_(
          c, e, loop_, box(), [this](const auto& what) { calls().step(now(), what); }, std::move(probe_key)),
      leases_(link_, e),
      watches_(link_, *e.clock, [this](const std::string& reason) { may_not_watch(reason); }) {
  overdue::listener told;
  told.swept = [this, box = box()](std::vector<sweeper::verdict> all, std::shared_ptr<overdue::errand> asked) {
    box->put([this, all = std::move(all), asked = std::move(asked)](auto*) { swept(all, *asked); });
  };
  told.failed = [this, box = box()](const wire::status& s) {
    box->put([this, old = is_old_token(s)](auto*) {
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
  if (!around().log) return;
  around().log(log_level::error,
               "etcd: the server refuses watches, so that turns, losses and changes are found late: " + reason +
                   " (whoever locks a name must be allowed to read its keys)");
}

// What is told from now on, it is told to nobody.
frame::~frame() {
  overdue_->close();
  fall_silent();
}

void frame::do_open() {
  if (config_.tls && !config_.verify && around().log) {
    around().log(log_level::warning, "etcd: ?verify=none, anybody can pose as the server");
  }
  link_.open(*this);
}

// Watches and what is known of keys would wait for revisions that come again only much later, with something else.
void frame::on_set_back(std::int64_t revision) {
  if (around().log) {
    around().log(log_level::warning,
                 "etcd: revisions run backwards, and with them tokens. Was the data restored from a copy? "
                 "(etcdutl snapshot restore --bump-revision prevents it)");
  }
  watches_.set_back(revision);
  set_back(revision);
}

void frame::on_up(const tyer::engine::server_facts& f) {
  if (closed()) return;
  watches_.on_up();
  look_for_turns();
  runtime().up(f);
}

void frame::on_down(const failure& f) {
  leases_.on_down();
  watches_.on_down();
  runtime().down(f);
}

// --- what was missed ---

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
      method::txn, std::move(t), now() + around().request_timeout,
      [this, some = std::move(some)](const failure* f, pb::TxnResponse& answer) {
        if (closed()) return;
        if (f == nullptr) link_.saw(answer.header());
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto& [who, key] = some[i];
          if (!has(who)) continue;
          if (f == nullptr) {
            caught_up(who, key, answer.responses(static_cast<int>(i)).response_range(), answer.header().revision());
          } else {  // keep() finds out what it is; and it is watched again, which tells of the gap again
            watch_when_lasting(who);
            runtime().suspect(who);
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

// What comes from the server is handled by the loop: each thing in a step of its own (link_).
std::vector<tyer::engine::delivery> frame::receive(time_point until) {
  if (!loop_.run(box()->empty() ? until : now())) lost_a_message();
  return box()->take_now();
}

void frame::on_time(time_point now) {
  link_.tick(now);
  link_.leave_if_silent(now);
  start_due_watches(now);
  watches_.try_again(now);
  if (!closed()) catch_up_all();
  if (!closed() && next_look() <= now) look_now(now);
  overdue_->ring_if_late();
}

// Memory ran out in the midst of something. What was asked is unknown at its deadline; whatever the server would have told is
// told again, since all that is watched is watched anew from where it was.
void frame::start_anew() {
  link_.start_anew();
  leases_.start_anew();
}

time_point frame::next_due() const {
  auto next = std::min(link_.next(), let_go_by_);
  if (!to_watch_.empty()) next = std::min(next, to_watch_.front().first);
  if (!closed()) next = std::min({next, next_look(), watches_.next()});
  return next;
}

void frame::watch_when_lasting(const id& who) { to_watch_.emplace_back(now() + lasting, who); }

void frame::start_due_watches(time_point now) {
  while (!to_watch_.empty() && to_watch_.front().first <= now) {
    const auto who = to_watch_.front().second;
    to_watch_.pop_front();
    watch_lasting(who);
  }
}

// --- the end ---

void frame::do_close() {
  overdue_->close();
  to_watch_.clear();
  watches_.close();
}

// What is still under way is cancelled; when that has come back nothing holds the connections any more.
bool frame::has_let_go(time_point now) {
  if (let_go_by_ == time_point::max()) {
    let_go_by_ = now + drain_max;
    link_.close();
    leases_.close(leases_of_holds());
  }
  if (!link_.idle() && now < let_go_by_) return false;
  link_.disconnect();
  return true;
}

// --- observers ---

void frame::do_watch(std::string_view name, bool on) {
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
                                    of_holders(n, e) ? runtime().changed(n) : runtime().queue_changed(n);
                                  },
                              .on_gap =
                                  [this, n] {
                                    watched_.erase(n);
                                    runtime().changed(n);
                                    watch(n, true);
                                  },
                              .on_refused = [this, n] { runtime().changed(n); }});
}

}  // namespace tyer::etcd
