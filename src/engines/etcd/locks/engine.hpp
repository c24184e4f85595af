// The engine behind etcd:// and etcds://, and how one operation goes through it.
//
//   a call ──▶ the line of its name (kit::calls) ──▶ a lease ──▶ read, decide (ledger), write ──▶ answer
//                                                                     ▲────somebody was quicker────┘
#pragma once

#include "engines/etcd/client/looks.hpp"
#include "engines/etcd/frame.hpp"
#include "engines/etcd/locks/freshness.hpp"
#include "engines/etcd/locks/lookouts.hpp"
#include "engines/etcd/locks/numbers.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tyer::etcd {

class etcd_engine final : public frame {
 public:
  etcd_engine(const config&, const tyer::engine::environment&);

  tyer::engine::capabilities can() const noexcept override;

 private:
  // --- what the kit asks ---
  void do_acquire(const tyer::engine::request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const target>, fate as, milliseconds ttl, const call_ptr<tyer::engine::kept>&) override;
  void do_confirm(const target&, milliseconds ttl, const call_ptr<tyer::engine::kept>&) override;
  void do_release(const target&, bool clean, const call_ptr<fate>&) override;
  void do_convert(const target&, mode to, milliseconds not_after, const call_ptr<answer>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<tyer::engine::page>&) override;
  void do_look(std::string_view name, bool waiters, const call_ptr<tyer::engine::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<tyer::engine::page>&) override;

  // A call on its way through read, decide and write.
  struct operation {
    operation(std::shared_ptr<kit::call> c, std::string_view n) : call(std::move(c)), name(n) {}

    const std::shared_ptr<kit::call> call;
    const std::string name;
    std::function<void()> on_lease_lost;  // a write named a lease that the server does not know
    std::function<void()> on_no_space;    // etcd has no space left to write, only to delete
    int refused = 0;                      // writes that somebody else was quicker than
  };
  using op = std::shared_ptr<operation>;

  // A hold or a place in the queue that this client has.
  struct mine {
    std::string name, key;
    id who;
    bool waits = false, handed_over = false, upgrading = false;
    bool exclusive = false, permits = false;
    std::string line;  // who is behind it, as a pb::Line
    std::int64_t created = 0, modified = 0, lease = 0;
    std::string to_claim;  // what is written there, when it was handed over
    milliseconds ttl{}, waiter_ttl{}, lease_ttl{};
    time_point due;
    std::uint64_t asked_count = 0;
    watches::number own = 0, ahead = 0;
    std::uint64_t seen_under = 0;  // the stream of watches that was already watching the key when it was last read
    time_point read_at;            // when the last read of it left that was answered
    bool looks_out = false;        // it is among the lookouts
  };
  using by_time = std::multimap<time_point, std::string>;
  // The watch of a key, which outlives what lies there by a while: the next of this client often gets the same key.
  struct key_watch {
    watches::number number = 0;
    std::optional<pb::Event> last;          // what came while nobody of this client was known to be there
    std::optional<by_time::iterator> idle;  // until when it is kept, if nobody is there
  };
  struct acquiring;
  struct keeping;
  struct reading;
  struct releasing;
  struct asking_holders;
  using decide = std::function<void(ledger&)>;
  using settled = std::function<void(ledger&)>;

  // --- engine.cpp ---
  key_range watched_keys(const std::string& name) const override { return keys_.room(name); }
  bool is_of(const std::string&, const std::string&) const override { return true; }
  bool of_holders(const std::string&, const pb::Event&) override;
  void set_back(std::int64_t revision) override;
  void look_for_turns() override;
  void watch_lasting(const id&) override;
  std::set<std::int64_t> leases_of_holds() const override;

  // --- settle.cpp ---
  static bool says_no_space(const failure&);
  void read_and_settle(const op&, decide, settled);
  void settle(const op&, ledger, decide, settled);
  void written(const op&, ledger, const pb::TxnResponse&, decide, settled);
  std::optional<ledger> turns_left(const pb::TxnResponse& written) const;
  void tell_turns(const std::string& name, const std::optional<ledger>& known, std::function<void()> then);
  void tell_turns_behind(const std::string& name, fate left, const pb::RangeResponse& oldest, std::int64_t revision,
                         std::function<void()> then);
  bool drop_overdue(ledger&, const std::string& name);

  // --- acquire.cpp ---
  void start_acquiring(const std::shared_ptr<acquiring>&);
  void spare(acquiring&);
  void has_its_answer(const acquiring&) noexcept;
  void sit_elsewhere(acquiring&);
  void end_without_a_write(const acquiring&);
  void try_free(const std::shared_ptr<acquiring>&);
  void look_and_take(const std::shared_ptr<acquiring>&, const pb::RangeResponse&, std::int64_t revision);
  void claim(const std::shared_ptr<acquiring>&, const mine&);
  void read_all(const std::shared_ptr<acquiring>&);
  void settle_acquiring(const std::shared_ptr<acquiring>&, ledger);
  void answer_acquire(const std::shared_ptr<acquiring>&, ledger&);
  void grant_once_kept(const std::shared_ptr<acquiring>&, const seat&);
  void renew_for(const std::shared_ptr<acquiring>&, std::int64_t lease);
  void again_with_new_lease(const std::shared_ptr<acquiring>&, std::int64_t lease);

  // --- enqueue.cpp ---
  std::int64_t lease_of_place(const acquiring&);
  new_key place_of(const acquiring&, std::int64_t lease) const;
  void take_place(const std::shared_ptr<acquiring>&);
  void write_place(const std::shared_ptr<acquiring>&, std::int64_t lease, company);
  void placed_among_many(const std::shared_ptr<acquiring>&, std::int64_t lease, const pb::TxnResponse&,
                         std::int64_t revision);
  void wait_far_back(const std::shared_ptr<acquiring>&, const seat&, std::int64_t ahead);
  void placed(const std::shared_ptr<acquiring>&, const pb::TxnResponse&, std::int64_t revision);
  void look_at_some(const std::shared_ptr<acquiring>&, const pb::RangeResponse&, std::int64_t revision);
  void take_far_place(const std::shared_ptr<acquiring>&, const pb::TxnResponse&, std::int64_t revision);
  mine& wait_for_turn(const acquiring&, const seat&, lease_clock::duration look_after);
  bool nobody_moves(const ledger& oldest) const;
  void keep_place(const acquiring&, std::int64_t lease);

  // --- release.cpp ---
  void give_back(const std::shared_ptr<releasing>&, const mine&);
  void leave(const std::shared_ptr<releasing>&, const mine&);
  void look_for_next(const std::shared_ptr<releasing>&);
  void hand_over(const std::shared_ptr<releasing>&, pb::TxnResponse& looked);
  void pass_on(const std::shared_ptr<releasing>&, ledger, const pb::Line&);
  void settle_release(const std::shared_ptr<releasing>&);
  void released(const std::shared_ptr<releasing>&);
  bool is_plain_hand_over(const ledger&, const id&) const;
  void delete_alone(const op&, const id&, std::function<void(fate was)>);
  void ask_more(const std::shared_ptr<asking_holders>&, const ledger&);
  void converted(const id&, const ledger&, answer&);

  // --- admin.cpp ---
  void show_all(const std::shared_ptr<listing>&, const std::string& name);
  void take_page(const std::shared_ptr<listing>&, const pb::RangeResponse&);

  // --- keep.cpp ---
  std::shared_ptr<keeping> start_keeping(std::span<const target>, fate as, milliseconds ttl,
                                         const call_ptr<tyer::engine::kept>&);
  void renew_and_read(const std::shared_ptr<keeping>&);
  void lease_kept(const std::shared_ptr<keeping>&, std::int64_t lease, time_point sent);
  bool rests_on_watch(const keeping&, const mine&) const;
  lease_clock::duration unproven_for(const mine&, time_point) const;
  void prove_watches(milliseconds ttl);
  bool extend(mine&, time_point due);
  void look_at(reading&, keeping&, std::size_t i) const;
  void read_beside(const std::shared_ptr<keeping>&);
  void judge_kept(const std::shared_ptr<keeping>&);
  void judge_read(const std::shared_ptr<keeping>&, const reading&);
  void keep_one(const std::shared_ptr<keeping>&, std::size_t i, const pb::KeyValue&, std::int64_t as_of);
  void move_longer(const std::shared_ptr<keeping>&, std::size_t i, const pb::KeyValue&, pb::Record);
  void confirm_longer(const std::shared_ptr<keeping>&, std::size_t i, std::int64_t lease);

  // --- own_entries.cpp: what this client has, and what it is told about it ---
  mine& have(const std::string& name, const seat&, time_point due);
  void lose(const id&);
  void find_lost(const id&);
  void forget_released(const id&, fate was);
  void watch_own(mine&);
  void watch_own(mine&, std::int64_t known_as_of);
  watches::number watch_key(const std::string& key, std::int64_t known_as_of);
  void key_changed(const std::string& key, const pb::Event&);
  void key_missed(const std::string& key);
  void let_go_of_watch(mine&);
  void end_idle_watches(time_point);
  void stop_watching(mine&);
  bool has(const id& who) const override { return mine_.contains(who); }
  void own_changed(const id&, const pb::Event&) override;
  void watch_own_from(const id&, std::int64_t known_as_of) override;
  void be_told_of_turn(mine&, std::string& line);
  void remember_for_who_asks(const id&, const pb::Event&);
  bool was_told_of_more(const mine&) const;
  void read_own(const id&);
  void ask_again(const id&);
  void gave_up(const std::string& key, std::int64_t modified, bool gone) override;
  void found_written(const std::string& key, const pb::KeyValue&) override;
  mine* find_mine(const std::string& key);
  void free_number(const std::string& name, const id& who) noexcept;
  void free_if_done(const std::string& name, const id& at);
  time_point next_look() const override;
  void look_now(time_point) override;

  // --- ahead.cpp ---
  void watch_ahead(mine&, const ledger&);
  static const seat* ahead_of(const mine&, const ledger&);
  void look_out(mine&, lease_clock::duration after);
  void stop_looking_out(mine&);
  void look_again_if_blind(const id&);
  void look_again(const id&);
  void look_after(const id&, lease_clock::duration);
  void look_ahead(const id&);
  void seen_ahead(const id&, const pb::TxnResponse&);
  void is_known_as_of(mine&, std::int64_t revision);

  const keys keys_;
  numbers numbers_;
  freshness fresh_;  // what the watches tell
  lookouts lookouts_;
  looks looks_;
  std::unordered_map<std::string, key_watch> key_watches_;
  by_time idle_watches_;
  std::unordered_set<std::string> crowded_;  // names at which many waited, when last asked
  std::unordered_map<id, mine, core::id_hash> mine_;
  std::unordered_multiset<id, core::id_hash> asking_;  // acquires that have no answer yet
};

}  // namespace tyer::etcd
