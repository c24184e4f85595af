// An inbox that also waits for what Asio does. Handlers only put what has come into it: it is handed out when nothing of Asio is on
// the stack, so that whoever is called back may do anything.
#pragma once

#include "engine/inbox.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>

namespace tyer::mysql {

// Thread safety: as inbox; context() and take() from one thread.
class asio_box final : public engine::inbox {
 public:
  asio_box() : inside_(std::make_unique<inside>()) {}  // throws boost::system::system_error without descriptors
  asio_box(const asio_box&) = delete;

  void put(engine::delivery) override;
  void wake() noexcept override;
  std::vector<engine::delivery> take(deadline until) override;

  boost::asio::io_context& context() noexcept { return inside_->context; }

 private:
  void ring() noexcept;

  struct inside {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  };
  std::unique_ptr<inside> inside_;
  std::atomic<bool> rung_{false};
};

}  // namespace tyer::mysql
