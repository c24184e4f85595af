// An inbox that also waits for what Asio does. Handlers only put what has come into it: it is handed out when nothing of Asio is on
// the stack, so that whoever is called back may do anything.
#pragma once

#include "engines/net/context.hpp"
#include "engines/sql/ringing_box.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <memory>
#include <vector>

namespace tyer::mysql {

// Thread safety: as inbox; context() and take() from one thread.
class asio_box final : public sql::ringing_box {
 public:
  asio_box() : inside_(std::make_unique<inside>()) {}  // throws tyer::error without descriptors
  asio_box(const asio_box&) = delete;

  std::vector<engine::delivery> take(deadline until) override;

  boost::asio::io_context& context() noexcept { return inside_->context; }

 private:
  void ring() noexcept override { inside_->context.wake(); }

  struct inside {
    net::context context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  };
  std::unique_ptr<inside> inside_;
};

}  // namespace tyer::mysql
