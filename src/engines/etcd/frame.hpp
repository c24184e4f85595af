// What the engines on etcd have in common, whatever lies in the server: the loop, the queue of each name, closing.
//
// Operations on one name are done one after the other, in the order they were made; names are independent.
#pragma once

#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engines/etcd/client/inbox.hpp"
#include "engines/etcd/client/leases.hpp"
#include "engines/etcd/client/link.hpp"
#include "engines/etcd/client/overdue.hpp"
#include "engines/etcd/client/watches.hpp"
#include "engines/etcd/config.hpp"
#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tyer::etcd {

using engine::outcome;
using engine::reply;
using engine::target;

// One call of the runtime on its way.
struct operation {
  std::string name;
  time_point sent, deadline;
  time_point counts_from;                    // what the answer is dated with: `sent`, or when what proves it left
  time_point not_after = time_point::max();  // no write is sent later
  std::function<void(failure)> fail;         // answers; empty once it is answered
  std::function<void()> drop;                // the reply, which then is never called
  std::function<void()> on_lease_lost;       // a write named a lease that the server does not know
  std::function<void()> on_no_space;         // etcd has no space left to write, only to delete

  int refused = 0;          // writes that somebody else was quicker than
  bool gives_back = false;  // so it is worth waiting for when the engine is closed
  bool own = false;         // nobody has called: it is done also while the engine is being closed

  bool over() const { return !fail; }
};
using op = std::shared_ptr<operation>;

bool names_a_lost_lease(const failure&);
bool says_no_space(const failure&);

class frame : public engine::engine, link::listener {
 public:
  frame(const config&, const tyer::engine::environment&, std::string probe_key);
  ~frame() override;

  void open(tyer::engine::events&) override;
  void watch(std::string_view name, bool on) override;
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;
  void close(reply<tyer::engine::done>) override;

  void run(time_point until) override;
  void wake() noexcept override { loop_.wake(); }

 protected:
  // --- what a layout answers ---
  virtual key_range watched_keys(const std::string& name) const = 0;
  virtual bool is_of(const std::string& name, const std::string& key) const = 0;  // of the keys watched for it
  virtual bool of_holders(const std::string& name, const pb::Event&) = 0;         // not only of who waits
  virtual void set_back(std::int64_t revision) = 0;                               // nothing was written later than that
  virtual void look_for_turns() = 0;  // what was said while nobody could be reached was missed
  virtual time_point next_look() const { return time_point::max(); }
  virtual void look_now(time_point) {}        // what next_look() was for
  virtual void watch_lasting(const id&) = 0;  // it has lasted long enough to be worth a watch
  virtual bool has(const id&) const = 0;
  virtual void own_changed(const id&, const pb::Event&) = 0;
  virtual void watch_own_from(const id&, std::int64_t known_as_of) = 0;
  // What nobody kept: it is not there any more, or something else lies there.
  virtual void gave_up(const std::string& key, std::int64_t modified, bool gone) = 0;
  // Where a request without an answer was to write: what lies there, at revision 0 if nothing does.
  virtual void found_written(const std::string& key, const pb::KeyValue&) = 0;
  virtual std::set<std::int64_t> leases_of_holds() const = 0;

  // --- one operation ---
  template <class T>
  op make(std::string name, const std::shared_ptr<reply<T>>&);
  template <class T>
  void finish(const op&, const std::shared_ptr<reply<T>>&, std::variant<T, failure>);
  void enqueue(const op&, std::function<void()> start);
  void next_of(const op&);
  void fail(const op&, failure);
  bool too_late(const op&);  // then it has failed
  void watch_when_lasting(const id&);
  bool is_observed(const std::string& name) const { return watched_.contains(name); }
  // Events of its key are missing: what the last of them would have said is found by reading, and it is watched again.
  void catch_up(const id&, const std::string& key);

  // --- keep_round.hpp ---
  template <class Round>
  std::shared_ptr<Round> start_round(tyer::engine::fate as, milliseconds ttl, reply<tyer::engine::kept>);
  template <class Round, class Judge>
  void read_for(const std::shared_ptr<Round>&, pb::TxnRequest, Judge);
  template <class Round>
  void renew_lease_of(const std::shared_ptr<Round>&, std::size_t one, std::int64_t lease);
  template <class Round>
  void one_kept(const std::shared_ptr<Round>&);

  // --- doubts.cpp: what requests without an answer may still write, by key; it is looked for, and taken back ---
  // Before such a request leaves; says until when it was in doubt before.
  time_point begin_doubt(const std::string& key, time_point deadline);
  // It has been answered, so in doubt is only what was in doubt before.
  void end_doubt(const std::string& key, time_point before);
  bool is_in_doubt(const std::string& key) const { return perhaps_written_.contains(key); }
  void look_later(const std::string& key);

  // --- time_left.cpp: a page for people ---
  struct found {
    tyer::engine::entry e;  // `left` is at most that
    std::int64_t lease = 0;
  };
  struct listing {
    op o;
    std::shared_ptr<reply<tyer::engine::page>> back;
    std::vector<found> all;
    std::string cursor;
    std::uint64_t look = 0;                             // its number, if the layout counts them
    bool holders_only = false, brief = false;           // brief: only the first lease is asked for
    std::map<std::int64_t, std::int64_t> seconds_left;  // of leases
    std::size_t awaited = 0;
  };
  std::shared_ptr<listing> start_listing(reply<tyer::engine::page>);
  void ask_time_left(const std::shared_ptr<listing>&);

  const config config_;
  const tyer::engine::environment environment_;
  const std::shared_ptr<inbox> box_ = std::make_shared<inbox>();
  wire::loop loop_;
  link link_;
  leases leases_;
  watches watches_;
  std::shared_ptr<overdue> overdue_;
  tyer::engine::events* events_ = nullptr;
  bool closed_ = false;

 private:
  void start_anew();
  void swept(const std::vector<sweeper::verdict>&, overdue::errand&);
  void swept(const sweeper::verdict&);
  void may_not_watch(const std::string& reason);
  void give_up_overdue(time_point now);
  void start_due_watches(time_point now);
  void catch_up_all();
  void catch_up_some(std::vector<std::pair<id, std::string>>);
  void caught_up(const id&, const std::string& key, const pb::RangeResponse&, std::int64_t revision);
  void finish_close();
  void fail_all(bool also_those_that_give_back);
  time_point next_event() const;
  void finish_page(const std::shared_ptr<listing>&);
  void on_set_back(std::int64_t revision) override;
  void on_up(const tyer::engine::server_facts&) override;
  void on_down(const failure&) override;

  std::deque<op> operations_;                       // in the order they were made, so also in the order they fall due
  std::deque<std::pair<time_point, id>> to_watch_;  // holds, when they have lasted long enough to be worth it
  std::vector<std::pair<id, std::string>> to_catch_up_;
  std::unordered_map<std::string, std::deque<std::pair<op, std::function<void()>>>> queues_;
  std::map<std::string, watches::number> watched_;
  std::map<std::string, time_point> perhaps_written_;  // and looked for until then
  reply<tyer::engine::done> closing_;
  bool cancelled_ = false, stumbled_ = false;
  time_point drained_by_ = time_point::max();  // the last calls are waited for until then
};

// --- templates ---

template <class T>
op frame::make(std::string name, const std::shared_ptr<reply<T>>& back) {
  auto o = std::make_shared<operation>();
  o->name = std::move(name);
  o->sent = o->counts_from = environment_.clock->now();
  o->deadline = o->sent + environment_.request_timeout;
  o->fail = [o = o.get(), back](failure f) { (*back)({o->sent, std::move(f)}); };
  o->drop = [back] { *back = nullptr; };
  operations_.push_back(o);
  if (closed_) {
    box_->put([o] {
      if (!o->over() && !o->own)
        std::exchange(o->fail, nullptr)(no(why::not_sent, errc::closed, "the engine was closed"));
    });
  }
  return o;
}

template <class T>
void frame::finish(const op& o, const std::shared_ptr<reply<T>>& back, std::variant<T, failure> result) {
  if (!o->over()) {
    o->fail = nullptr;
    (*back)({o->counts_from, std::move(result)});
  }
  next_of(o);
}

}  // namespace tyer::etcd
