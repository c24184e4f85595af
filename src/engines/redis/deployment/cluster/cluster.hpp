// redis+cluster://: the masters of a cluster. Internal to cluster/.
//
// The slot map is polled, from one master while all is well and from all nodes while a slot has no reachable master, the
// more seldom the longer that lasts; it never depends on a notification. A MOVED answer is believed at once for that slot.
// The request was not executed: its sender repeats it, with a limit on the clock of the right server. ASK is followed,
// since nothing else works while a slot is being migrated; but only while the slot still belongs to the master that said
// it, so that requests for one name stay in order. A name that follows an ASK is on a detour, and in a group of its own.
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
  engine::server_facts of_all(engine::server_facts) const;
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
  std::vector<node> nodes_;       // as last reported by a node
  shards shards_;                 // masters, in the order of their slots, then those without slots
  shards scouts_;                 // asked only while no master can answer
  shards leaving_;
  std::uint32_t last_number_ = 0;  // of a shard
  detours detours_;
  wakeups wakeups_;

  std::deque<core::function<void()>> later_;  // runs in the next turn
  time_point next_ask_ = time_point::max(), troubled_since_{};
  bool in_trouble_ = false, announced_ = false, complained_ = false, closing_ = false;
  core::function<void()> closed_;
};

}  // namespace tyer::redis
