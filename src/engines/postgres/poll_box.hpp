// An inbox that also waits for a socket.
#pragma once

#include "engine/inbox.hpp"

#include <functional>

namespace tyer::postgres {

// Thread safety: as inbox; watch() and take() from one thread.
class poll_box final : public engine::inbox {
 public:
  poll_box();  // throws std::system_error without descriptors
  ~poll_box() override;
  poll_box(const poll_box&) = delete;

  void put(engine::delivery) override;
  void wake() noexcept override;
  std::vector<engine::delivery> take(deadline until) override;

  // `ready` is delivered whenever the socket is; -1: no socket.
  void watch(int socket, bool write, std::function<void()> ready);
  void watch_none() { watch(-1, false, nullptr); }

 private:
  void ring() noexcept;

  int bell_;
  int socket_ = -1;
  bool write_ = false;
  std::function<void()> ready_;
};

}  // namespace tyer::postgres
