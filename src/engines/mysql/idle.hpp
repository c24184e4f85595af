// Notices that something comes although nothing was asked: the server has closed the connection, or is about to.
//
//   state   | left when                        | for
//   --------+----------------------------------+---------------------------------------------
//   off     | used()                           | resting
//   resting | nobody used it for a moment,     | looking
//           | nor is anything under way        |
//   looking | used(); or something can be read | resting; off, and whoever wants to know is told
//
// A connection that is busy costs nothing: it looks only after a rest.
//
// Thread safety: none. Whatever `keeps` holds lives until no handler is left.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

namespace tyer::mysql {

class idle {
 public:
  idle(boost::asio::io_context& c, std::function<bool()> busy, std::function<void()> readable)
      : timer_(c), copy_(c), busy_(std::move(busy)), readable_(std::move(readable)) {}

  void start(int socket, std::weak_ptr<void> keeps);  // -1: nothing can be noticed
  void used();
  void stop() noexcept;

 private:
  void rest();
  void look();

  boost::asio::steady_timer timer_;
  boost::asio::posix::stream_descriptor copy_;  // of the socket
  std::function<bool()> busy_;                  // an answer is awaited
  std::function<void()> readable_;
  std::weak_ptr<void> keeps_;
  bool resting_ = false, looking_ = false, used_ = false;
};

}  // namespace tyer::mysql
