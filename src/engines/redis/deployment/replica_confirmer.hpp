// Confirms that replicas have what a master has answered: `?replicas=K`.
//
// WAIT blocks its connection and covers only what was written on it, so it has a connection of its own, on which a small
// key (the mark) is written first: then WAIT covers everything that was written before, on any connection. Requests that
// come while a WAIT is under way share the next one.
#pragma once

#include "engines/redis/connection/connection.hpp"
#include "engines/redis/deployment/deployment.hpp"

#include <deque>
#include <string>
#include <vector>

namespace tyer::redis {

class replica_confirmer final : connection::listener, loop::member {
 public:
  replica_confirmer(loop&, connection::settings, std::uint32_t replicas);
  ~replica_confirmer();

  void open() { link_.open(*this); }

  // Asks about the server with this id, which has this key.
  void confirm(std::string server_id, std::string_view key, deployment::confirmed);

  void move_to(const core::endpoint& server, const std::string& why) { link_.move_to(server, why); }
  void close(core::function<void()> done);

 private:
  struct question {
    std::string server, key;
    engine::time_point give_up;
    deployment::confirmed back;
  };

  void go();
  void answered(const received&);
  void on_up(const engine::server_facts&) override { go(); }
  void on_down(const engine::failure&) override {}
  void on_message(std::string_view) override {}

  void flush() override {}
  void tick(engine::time_point) override;
  engine::time_point due() const override;
  bool ready() const override { return !over_.empty(); }
  void drain() override {}
  void deliver() override;
  void broken(const std::string&) override {}

  loop* loop_;
  const core::clock* clock_;
  std::uint32_t replicas_;
  std::chrono::milliseconds patience_;
  std::deque<question> waiting_;     // in the order of their time limits
  std::vector<question> under_way_;  // one WAIT for all of them
  std::vector<question> over_;       // their time is over
  std::string not_marked_;           // why the mark of the WAIT under way could not be written
  connection link_;
};

}  // namespace tyer::redis
