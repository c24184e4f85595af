// What the engines on etcd have in common, whatever lies in the server: the loop, watching, what requests without an answer have
// left, the end. The calls are the kit's (engines/kit/engine_base.hpp).
#pragma once

#include "engine/environment.hpp"
#include "engines/etcd/client/leases.hpp"
#include "engines/etcd/client/link.hpp"
#include "engines/etcd/client/overdue.hpp"
#include "engines/etcd/client/watches.hpp"
#include "engines/etcd/config.hpp"
#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/kit/engine_base.hpp"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tyer::etcd {

using engine::outcome;
using engine::reply;
using engine::target;
using kit::call_ptr;

bool names_a_lost_lease(const failure&);

class frame : public kit::engine_base, link::listener {
 public:
  frame(const config&, const tyer::engine::environment&, std::string_view scheme, std::string probe_key);
  ~frame() override;

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

  void watch_when_lasting(const id&);
  bool is_observed(const std::string& name) const { return watched_.contains(name); }
  // Events of its key are missing: what the last of them would have said is found by reading, and it is watched again.
  void catch_up(const id&, const std::string& key);

  // --- keep_round.hpp ---
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
    call_ptr<tyer::engine::page> call;
    std::vector<found> all = {};
    std::string cursor = {};
    std::uint64_t look = 0;                                  // its number, if the layout counts them
    bool holders_only = false, brief = false;                // brief: only the first lease is asked for
    std::map<std::int64_t, std::int64_t> seconds_left = {};  // of leases
    std::size_t awaited = 0;
  };
  static std::shared_ptr<listing> start_listing(const call_ptr<tyer::engine::page>&);
  void ask_time_left(const std::shared_ptr<listing>&);

  const config config_;
  wire::loop loop_;
  link link_;
  leases leases_;
  watches watches_;
  std::shared_ptr<overdue> overdue_;

 private:
  void do_open() override;
  void do_watch(std::string_view name, bool on) override;
  void do_diagnose(const call_ptr<std::vector<tyer::engine::finding>>&) override;
  void do_close() override;
  std::vector<tyer::engine::delivery> receive(time_point until) override;
  time_point next_due() const override;
  void on_time(time_point) override;
  void start_anew() override;
  bool has_let_go(time_point) override;

  void swept(const std::vector<sweeper::verdict>&, overdue::errand&);
  void swept(const sweeper::verdict&);
  void may_not_watch(const std::string& reason);
  void start_due_watches(time_point now);
  void catch_up_all();
  void catch_up_some(std::vector<std::pair<id, std::string>>);
  void caught_up(const id&, const std::string& key, const pb::RangeResponse&, std::int64_t revision);
  void finish_page(const std::shared_ptr<listing>&);
  void on_set_back(std::int64_t revision) override;
  void on_up(const tyer::engine::server_facts&) override;
  void on_down(const failure&) override;

  std::deque<std::pair<time_point, id>> to_watch_;  // holds, when they have lasted long enough to be worth it
  std::vector<std::pair<id, std::string>> to_catch_up_;
  std::map<std::string, watches::number> watched_;
  std::map<std::string, time_point> perhaps_written_;  // and looked for until then
  time_point let_go_by_ = time_point::max();           // what comes back of the last requests is waited for until then
};

}  // namespace tyer::etcd
