// The loop of all connections of one engine: its I/O only notes what has come; that is handed out when nothing of Asio is on
// the stack, so that whoever is called back may do anything.
//
// Thread safety: one thread at a time; wake() from any.
#pragma once

#include "engine/inbox.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace tyer::zookeeper::wire {

class loop {
 public:
  loop();
  loop(const loop&) = delete;

  // What has come, when there is something, or wake() was called, or it is time.
  std::vector<engine::delivery> wait(const engine::inbox::deadline& until);
  void wake() noexcept;

  void note(engine::delivery what) { noted_.push_back(std::move(what)); }
  boost::asio::io_context& context() noexcept { return inside_->context; }

 private:
  struct inside {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  };
  std::unique_ptr<inside> inside_;
  std::vector<engine::delivery> noted_;
  std::atomic<bool> woken_{false};
};

}  // namespace tyer::zookeeper::wire
