// The engine behind etcd:// and etcds://: its parts, and how one operation goes through them.
//
//   an operation ──▶ the queue of its name ──▶ a lease ──▶ read, decide (ledger), write ──▶ answer
//                                                              ▲────somebody was quicker────┘
//
// Operations on one name are done one after the other, in the order they were made; names are independent.
#pragma once

#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engines/etcd/config.hpp"
#include "engines/etcd/dues.hpp"
#include "engines/etcd/inbox.hpp"
#include "engines/etcd/keys.hpp"
#include "engines/etcd/leases.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/etcd/link.hpp"
#include "engines/etcd/watches.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  std::function<void()> on_lease_lost;       // a write named a lease that the server does not know

  bool gives_back = false;  // so it is worth waiting for when the engine is closed

  bool over() const { return !fail; }
};
using op = std::shared_ptr<operation>;

class etcd_engine final : public engine::engine, link::listener {
 public:
  etcd_engine(const config&, const tyer::engine::environment&);
  ~etcd_engine() override;

  tyer::engine::capabilities can() const noexcept override;
  void open(tyer::engine::events&) override;

  void acquire(const tyer::engine::request&, reply<answer>) override;
  void keep(std::span<const target>, fate as, milliseconds ttl, reply<std::vector<fate>>) override;
  void release(const target&, bool clean, reply<fate>) override;
  void convert(const target&, mode to, milliseconds not_after, reply<answer>) override;
  void lift(const target&, std::uint64_t part, reply<fate>) override;
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) override;
  void evict(const target&, std::string_view reason, reply<fate>) override;
  void show(std::string_view name, reply<tyer::engine::page>) override;
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<tyer::engine::page>) override;
  void watch(std::string_view name, bool on) override;
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;
  void close(reply<tyer::engine::done>) override;

  void run(time_point until) override;
  void wake() noexcept override { box_->wake(); }

 private:
  // A hold or a place in the queue that this client has.
  struct mine {
    std::string name, key;
    id who;
    bool waits = false, handed_over = false, upgrading = false;
    bool alone = false;  // nobody else was there when it was last written
    std::int64_t created = 0, modified = 0, lease = 0;
    std::string to_claim;  // what is written there, when it was handed over
    milliseconds ttl{}, waiter_ttl{}, lease_ttl{};
    time_point due;
    std::uint64_t asked_count = 0;
    watches::number own = 0, ahead = 0;
    std::uint64_t seen_under = 0;  // the stream of watches that was already watching the key when it was last read
    bool looking = false;          // for who is ahead
  };
  struct acquiring;
  struct keeping;
  struct listing;
  using decide = std::function<void(ledger&)>;
  using settled = std::function<void(ledger&)>;

  // --- etcd.cpp ---
  template <class T>
  op make(std::string name, const std::shared_ptr<reply<T>>&);
  template <class T>
  void finish(const op&, const std::shared_ptr<reply<T>>&, std::variant<T, failure>);
  void enqueue(const op&, std::function<void()> start);
  void next_of(const op&);
  void fail(const op&, failure);
  void give_up_overdue(time_point now);
  void finish_close();
  void fail_all(bool also_those_that_give_back);
  time_point next_event() const;
  void on_up(const tyer::engine::server_facts&) override;
  void on_down(const failure&) override;

  // --- writing.cpp ---
  void read_and_settle(const op&, decide, settled);
  void settle(const op&, ledger, decide, settled);
  void written(const op&, ledger, const pb::TxnResponse&, decide, settled);
  void drop_overdue(ledger&, const std::string& name);
  void tell_handed_over(const ledger&);

  // --- acquiring.cpp ---
  void start_acquiring(const std::shared_ptr<acquiring>&);
  void try_free(const std::shared_ptr<acquiring>&);
  void look_and_take(const std::shared_ptr<acquiring>&, const pb::RangeResponse&, std::int64_t revision);
  void claim(const std::shared_ptr<acquiring>&, const mine&);
  void take_place(const std::shared_ptr<acquiring>&);
  void look_at_some(const std::shared_ptr<acquiring>&, const pb::RangeResponse&, std::int64_t revision);
  void take_far_place(const std::shared_ptr<acquiring>&, const pb::TxnResponse&);
  void read_all(const std::shared_ptr<acquiring>&);
  bool nobody_moves(const ledger& oldest) const;
  void settle_acquiring(const std::shared_ptr<acquiring>&, ledger);
  void answer_acquire(const std::shared_ptr<acquiring>&, ledger&);
  void grant_once_kept(const std::shared_ptr<acquiring>&, const seat&, bool alone);
  void renew_for(const std::shared_ptr<acquiring>&, std::int64_t lease);
  void keep_place(const acquiring&, std::int64_t lease);
  void again_with_new_lease(const std::shared_ptr<acquiring>&, std::int64_t lease);

  // --- releasing.cpp ---
  void hand_over(const op&, const id&, decide, settled);
  void hand_over_to_next(const op&, const id&, pb::TxnResponse& looked, const decide&, const settled&);
  bool is_plain_hand_over(const ledger&, const id&) const;
  void write_hand_over(const op&, ledger, decide, settled);
  void converted(const id&, const ledger&, answer&);

  // --- listing.cpp ---
  void show_all(const std::shared_ptr<listing>&, const std::string& name);
  void take_page(const std::shared_ptr<listing>&, const pb::RangeResponse&);
  void ask_time_left(const std::shared_ptr<listing>&);
  void finish_page(const std::shared_ptr<listing>&);

  // --- keeping.cpp ---
  void renew_kept(const std::shared_ptr<keeping>&);
  void lease_kept(const std::shared_ptr<keeping>&, std::int64_t lease, time_point sent);
  bool needs_no_read(const keeping&, const mine&) const;
  void extend(mine&, time_point due);
  void read_kept(const std::shared_ptr<keeping>&);
  void judge_kept(const std::shared_ptr<keeping>&, const pb::TxnResponse&);
  void keep_one(const std::shared_ptr<keeping>&, std::size_t i, const pb::KeyValue&);
  void move_longer(const std::shared_ptr<keeping>&, std::size_t i, const pb::KeyValue&, pb::Record);
  void confirm_longer(const std::shared_ptr<keeping>&, std::size_t i, std::int64_t lease);
  void one_kept(const std::shared_ptr<keeping>&);

  // --- having.cpp: what this client has, and what it is told about it ---
  mine& have(const std::string& name, const seat&, time_point due);
  void lose(const id&);
  void find_lost(const id&);
  void forget_released(const id&, fate was);
  void watch_own(mine&);
  void watch_ahead(mine&, const ledger&);
  void stop_watching(mine&);
  void own_changed(const id&, const pb::Event&);
  void look_ahead(const id&);
  void seen_ahead(const id&, ledger);
  void read_own(const id&);
  void gave_up(const std::string& key, std::int64_t modified, bool deleted);
  void watch_and_look(time_point now);

  const config config_;
  const tyer::engine::environment environment_;
  const std::shared_ptr<inbox> box_ = std::make_shared<inbox>();
  const keys keys_;
  link link_;
  leases leases_;
  watches watches_;
  std::shared_ptr<dues> dues_;
  tyer::engine::events* events_ = nullptr;

  std::deque<op> operations_;                       // in the order they were made, so also in the order they fall due
  std::deque<std::pair<time_point, id>> to_watch_;  // holds, when they have lasted long enough to be worth it
  std::deque<std::pair<time_point, id>> to_look_;   // waiters, for who is ahead
  std::unordered_map<std::string, std::deque<std::pair<op, std::function<void()>>>> queues_;
  std::unordered_map<id, mine, core::id_hash> mine_;
  std::map<std::string, watches::number> watched_;
  reply<tyer::engine::done> closing_;
  bool closed_ = false, cancelled_ = false;
  time_point drained_by_ = time_point::max();  // the last calls are waited for until then
};

// --- templates ---

template <class T>
op etcd_engine::make(std::string name, const std::shared_ptr<reply<T>>& back) {
  auto o = std::make_shared<operation>();
  o->name = std::move(name);
  o->sent = environment_.clock->now();
  o->counts_from = o->sent;
  o->deadline = o->sent + environment_.request_timeout;
  o->fail = [o = o.get(), back](failure f) { (*back)({o->sent, std::move(f)}); };
  operations_.push_back(o);
  if (closed_) {
    box_->put([this, o] {
      if (!o->over()) std::exchange(o->fail, nullptr)(no(why::not_sent, errc::closed, "the engine was closed"));
    });
  }
  return o;
}

template <class T>
void etcd_engine::finish(const op& o, const std::shared_ptr<reply<T>>& back, std::variant<T, failure> result) {
  if (!o->over()) {
    o->fail = nullptr;
    (*back)({o->counts_from, std::move(result)});
  }
  next_of(o);
}

}  // namespace tyer::etcd
