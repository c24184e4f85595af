// The loop of all connections of one engine: its I/O only notes what has come; that is handed out when nothing of Asio is on
// the stack, so that whoever is called back may do anything.
//
// Thread safety: one thread at a time; wake() from any.
#pragma once

#include "engine/inbox.hpp"
#include "engines/net/context.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <cstdint>
#include <vector>

namespace tyer::zookeeper::wire {

class loop {
 public:
  loop() = default;
  loop(const loop&) = delete;

  // What has come, when there is something, or wake() was called, or it is time.
  std::vector<engine::delivery> wait(const engine::inbox::deadline& until);
  void wake() noexcept { context_.wake(); }

  void note(engine::delivery what) { noted_.push_back(std::move(what)); }
  boost::asio::io_context& context() noexcept { return context_; }

 private:
  net::context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::vector<engine::delivery> noted_;
};

}  // namespace tyer::zookeeper::wire
