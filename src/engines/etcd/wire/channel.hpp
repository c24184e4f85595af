// A way to one server: its calls, and the connection they need. Connects when somebody waits for it.
//
// Thread safety: whoever calls has the loop's turn.
#pragma once

#include "engines/etcd/wire/connection.hpp"
#include "engines/etcd/wire/loop.hpp"
#include "engines/etcd/wire/traffic.hpp"

#include <memory>
#include <string>

namespace tyer::etcd::wire {

class channel final : public std::enable_shared_from_this<channel>, connection::host {
 public:
  channel(loop::body&, const core::endpoint&, const config&, std::chrono::milliseconds attempt);
  ~channel();
  channel(const channel&) = delete;

  loop::body& home() const { return *home_; }
  traffic& calls() { return traffic_; }
  bool is_connecting() const { return traffic_.now() == traffic::state::arriving; }

  void flush(time_point now);  // connects, or sends what was collected
  void tick(time_point now);
  time_point due() const;
  void broken(const std::string& words) noexcept;  // an exception came out of it, or of the I/O and nobody knows whose
  void leave_home();                               // the loop ends: nobody is told any more

 private:
  void on_step() override;
  void on_connected() override;
  void on_read(std::string_view) override;
  void on_written() override;
  void on_lost(const std::string& words) override;
  void begin_attempt(time_point now);
  void disconnect() noexcept;

  loop::body* home_;
  const core::endpoint to_;
  const config config_;
  const std::chrono::milliseconds attempt_;
  traffic traffic_;
  std::shared_ptr<connection> connection_;
  bool connected_ = false;
  time_point arrive_by_ = time_point::max();
  std::shared_ptr<std::string> out_;  // being written
};

}  // namespace tyer::etcd::wire
