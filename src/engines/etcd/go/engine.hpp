// The engine of protocol=go, and how an attempt goes through it.
//
//   acquire ──▶ a key of its own ──first──▶ holds
//                     │                       ▲
//                     └──▶ waits ──the one before it has gone──▶ first now: wake, and acquire again (the claim)
//
// While it waits, a key lives by a lease of the waiter's length; the claim moves it to one of the hold's, if that is longer.
// Its name stays, and with it its place.
#pragma once

#include "engines/etcd/client/looks.hpp"
#include "engines/etcd/frame.hpp"
#include "engines/etcd/go/layout.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace tyer::etcd::go {

class go_engine final : public frame {
 public:
  go_engine(const config&, const tyer::engine::environment&);

  tyer::engine::capabilities can() const noexcept override;

 private:
  // --- what the kit asks ---
  void do_acquire(const tyer::engine::request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const target>, fate as, milliseconds ttl, const call_ptr<tyer::engine::kept>&) override;
  void do_release(const target&, bool clean, const call_ptr<fate>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<tyer::engine::page>&) override;
  void do_look(std::string_view name, bool waiters, const call_ptr<tyer::engine::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<tyer::engine::page>&) override;

  // A hold or a place in the queue that this client has, or may have.
  struct mine {
    std::string name, key;
    id who;
    std::int64_t named = 0;    // the lease that the key is named after
    std::int64_t created = 0;  // 0: whether it is there is not known
    std::int64_t modified = 0, lease = 0;
    pb::Record record;
    bool waits = true, woken = false;
    bool unknown = false;  // a request to write it was not answered, and may still be executed
    time_point due;
    watches::number own = 0, ahead = 0;
    bool leaving = false;  // it is being given back: its end is no news
  };
  struct acquiring;
  struct keeping;

  // --- engine.cpp ---
  key_range watched_keys(const std::string& name) const override { return layout_.room(name); }
  bool is_of(const std::string& name, const std::string& key) const override { return layout_.name_of(key) == name; }
  bool of_holders(const std::string& name, const pb::Event&) override;
  void set_back(std::int64_t revision) override;
  void look_for_turns() override;
  time_point next_look() const override { return looks_.next(); }
  void look_now(time_point) override;
  void watch_lasting(const id&) override;
  void gave_up(const std::string& key, std::int64_t modified, bool gone) override;
  void found_written(const std::string& key, const pb::KeyValue&) override;
  std::set<std::int64_t> leases_of_holds() const override;

  // --- acquire.cpp ---
  void start(const std::shared_ptr<acquiring>&);
  void find_leases(const std::shared_ptr<acquiring>&);
  void write(const std::shared_ptr<acquiring>&);
  void written(const std::shared_ptr<acquiring>&, const pb::TxnResponse&);
  void not_written(const std::shared_ptr<acquiring>&, const failure&);
  void read_ahead(const std::shared_ptr<acquiring>&);
  void settle(const std::shared_ptr<acquiring>&, const std::vector<place>&, std::int64_t revision);
  void claim(const std::shared_ptr<acquiring>&);
  void grant_once_kept(const std::shared_ptr<acquiring>&);
  void grant(const std::shared_ptr<acquiring>&);
  void queue(const std::shared_ptr<acquiring>&, const std::vector<place>& ahead, std::int64_t revision);
  void step_back(const std::shared_ptr<acquiring>&, std::variant<answer, failure>);
  void again(const std::shared_ptr<acquiring>&);

  // --- keep.cpp ---
  void renew_and_read(const std::shared_ptr<keeping>&);
  void read_kept(const std::shared_ptr<keeping>&);
  void judge_kept(const std::shared_ptr<keeping>&, const pb::TxnResponse&);
  void judge_own(const std::shared_ptr<keeping>&, std::size_t i, const pb::RangeResponse& own,
                 const pb::RangeResponse& first);
  void judge_other(const std::shared_ptr<keeping>&, std::size_t i, const pb::RangeResponse& room);
  void move_longer(const std::shared_ptr<keeping>&, std::size_t i, mine&);

  // --- release.cpp ---
  using removed = std::function<void(const failure*, fate was)>;
  using with_room = std::function<void(const failure*, const std::vector<place>&)>;
  void remove(const std::string& name, const std::string& key, std::int64_t created, time_point deadline, removed);
  void read_room(const std::string& name, time_point deadline, with_room);
  void remove_found(const std::string& name, const id&, time_point deadline, removed);
  void ask_first(const std::string& name, const std::string& reason, int tries, const call_ptr<std::uint32_t>&);

  // --- admin.cpp ---
  void take_page(const std::shared_ptr<listing>&, const pb::RangeResponse&);
  void show_names(const std::shared_ptr<listing>&, const std::set<std::string>&);

  // --- own_entries.cpp: what this client has, and what it is told about it ---
  mine* own(const id&, std::string_view name);
  std::set<std::int64_t> named_after(const std::string& name) const;
  void lose(id);  // by value: often from what is lost
  void find_lost(id);
  void watch_own(mine& m) { watch_own(m, m.modified); }
  void watch_own(mine&, std::int64_t known_as_of);
  bool has(const id& who) const override { return mine_.contains(who); }
  void own_changed(const id&, const pb::Event&) override;
  void watch_own_from(const id&, std::int64_t known_as_of) override;
  void read_own(const id&);
  void ask_again(const id&);
  void watch_ahead(mine&, const std::string& key, bool holds, std::int64_t revision);
  void look_ahead(const id&);
  void its_turn(mine&);
  void keep_until(mine&, time_point due);
  bool put_off(mine&, time_point due);

  const layout layout_;
  looks looks_;
  std::unordered_map<id, mine, core::id_hash> mine_;
  std::map<std::string, id> by_key_;
  struct first_key {
    std::uint64_t look = 0;  // the last that was begun
    std::string key;         // what it has found; empty: not known
  };
  std::map<std::string, first_key> first_;  // of names that are looked at
};

// Of transactions.
void only_if_created(pb::TxnRequest&, const std::string& key, std::int64_t created);
void put(pb::RequestOp&, const std::string& key, const pb::Record&, std::int64_t lease);
void read_all(pb::RangeRequest&, const key_range&);

}  // namespace tyer::etcd::go
