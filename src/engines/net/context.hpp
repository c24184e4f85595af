// An io_context that has the descriptors it needs from the beginning.
//
// Asio takes them at the first use, and when none is left it throws an exception of its own, wherever that is. Here an engine
// that cannot be had is refused when it is made, in Tyer's words.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>

namespace tyer::net {

class context : public boost::asio::io_context {  // for one thread at a time, but for wake()
 public:
  context();  // throws tyer::error

  using deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: without a limit

  // Runs what has come and what comes, until it was woken, there is enough, or it is time.
  void serve(const deadline& until, const std::function<bool()>& enough);
  void serve(const deadline& until) {
    serve(until, [] { return false; });
  }

  // Lets whoever waits in it return, or the next one who does.
  void wake() noexcept;
  bool woken() const noexcept { return woken_; }
  void returned() noexcept { woken_ = false; }

 private:
  std::atomic<bool> woken_{false};
};

}  // namespace tyer::net
