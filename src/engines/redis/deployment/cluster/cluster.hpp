// redis+cluster://: the masters of a cluster. Internal to cluster/.
//
// The map is asked for again and again, of one master while all is well and of everybody while a slot has no master to talk
// to; no message is relied on. A master that says MOVED has its word taken for that slot at once. Whoever sent the request
// asks again: it was not carried out, and is then made for the clock of the right server. ASK is followed, since as long
// as a slot is on its way nothing else would do; only while the slot still belongs to whoever said it, so that requests
// for one name stay in their order. Whoever follows it is on a detour, and in a group of its own.
#pragma once

#include "engines/redis/deployment/cluster/detours.hpp"
#include "engines/redis/deployment/cluster/shard.hpp"
#include "engines/redis/deployment/cluster/slot_map.hpp"
#include "engines/redis/deployment/cluster/wakeups.hpp"
#include "engines/redis/deployment/deployment.hpp"

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tyer::redis {

class cluster final : public deployment, shard::host, loop::member {
 public:
  cluster(loop&, connection_factory);
  ~cluster() override { loop_->leave(*this); }

  void open(connection::listener&) override;
  const scripts::set& set() const noexcept override { return scripts::in_a_cluster; }
  void call(const script&, std::span<const std::string_view> words, reply_handler) override;
  void refuse(engine::failure, reply_handler) override;
  bool one_name_per_call() const noexcept override { return true; }
  std::uint32_t group(std::string_view key) const override;
  bool listens_for_names() const noexcept override { return true; }
  void waits(std::string_view key, const engine::id& who, engine::time_point asked,
             std::chrono::milliseconds worth_listening) override {
    wakeups_.waits(key, who, asked, worth_listening);
  }
  bool waits_no_more(std::string_view key, const engine::id& who) override { return wakeups_.waits_no_more(key, who); }
  const server_clock& clock(std::string_view key) const override;
  void read_clocks() override;
  void confirm(const core::endpoint& server, std::string_view key, confirmed) override;
  std::vector<connection*> masters() override;
  void close(core::function<void()> done) override;

 private:
  using time_point = engine::time_point;
  using shards = std::vector<std::unique_ptr<shard>>;

  // Where calls go
  shard* of_slot(std::uint16_t) const noexcept;
  engine::failure no_master(std::uint16_t slot) const;
  shard* find(const core::endpoint&) const noexcept;
  shard& at(const core::endpoint&);
  void later(core::function<void()>);

  // The map: map.cpp
  void ask(shard&);
  void ask_somebody(time_point);
  void heard(shard&, std::string_view text);
  void redraw();
  void choose_marks();
  bool troubled() const;
  core::endpoint known_as(const core::endpoint& told) const;
  bool given_up(const core::endpoint&) const;
  void look_after_scouts(time_point);
  void look_after_shards(time_point);
  void announce(const engine::server_facts&);
  void complain();
  engine::failure nobody_told() const;

  // Shards
  void on_up(shard&, const engine::server_facts&) override;
  void on_down(shard&, const engine::failure&) override;
  void on_message(shard&, std::string_view) override;
  bool on_redirected(shard&, std::string_view error, const script&, std::span<const std::string_view> words,
                     reply_handler&) override;

  // The loop
  void flush() override {}
  void tick(time_point) override;
  time_point due() const override;
  bool ready() const override;
  void drain() override {}
  void deliver() override;
  void broken(const std::string&) override {}
  bool all_closed() const {
    return closed_ && shards_.empty() && scouts_.empty() && leaving_.empty() && wakeups_.closed();
  }

  loop* loop_;
  connection_factory m_;
  std::minstd_rand random_;
  connection::listener* outer_ = nullptr;
  server_clock no_clock_;

  slot_map map_;
  std::vector<shard*> by_claim_;  // as map_.claims()
  std::vector<node> nodes_;       // as somebody has told last
  shards shards_;                 // masters, in the order of their slots, then those that have none
  shards scouts_;                 // asked only while there are no masters that could tell
  shards leaving_;
  std::uint32_t last_number_ = 0;  // of a shard
  detours detours_;
  wakeups wakeups_;

  std::deque<core::function<void()>> later_;  // comes back in the next turn
  time_point next_ask_ = time_point::max(), troubled_since_{};
  bool in_trouble_ = false, announced_ = false, complained_ = false, closing_ = false;
  core::function<void()> closed_;
};

}  // namespace tyer::redis
