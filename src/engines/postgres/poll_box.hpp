// An inbox that also waits for a socket.
#pragma once

#include "engines/sql/ringing_box.hpp"

#include <functional>
#include <utility>

namespace tyer::postgres {

// Thread safety: as inbox; watch() and take() from one thread.
class poll_box final : public sql::ringing_box {
 public:
  poll_box();  // throws tyer::error without descriptors
  ~poll_box() override;
  poll_box(const poll_box&) = delete;

  std::vector<engine::delivery> take(deadline until) override;

  // `ready` is delivered whenever the socket is; -1: no socket.
  void watch(int socket, bool write, std::function<void()> ready);
  void watch_none() { watch(-1, false, nullptr); }

  // Called by take() first: whatever was put together since leaves together.
  void before_waiting(std::function<void()> what) { before_ = std::move(what); }

 private:
  void ring() noexcept override;

  int bell_;
  int socket_ = -1;
  bool write_ = false;
  std::function<void()> ready_, before_;
};

}  // namespace tyer::postgres
