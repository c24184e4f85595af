// A connection to one server that repairs itself, and the loop that serves it.
//
//   state       calls                          left by
//   away        answered not_sent              the time of the next attempt
//   arriving    answered not_sent              up: greeted, subscribed, scripts loaded; or away
//   up          collected, sent by run()       away: lost, silent for too long, or of no more use
//   closing     answered not_sent              closed: everything that was on its way is answered
//
// Calls are collected and sent together: by the next run(), and while run() delivers, after every few answers, so that
// the server has work while the rest is delivered. An answer is copied once, where Boost.Redis parses it, and handed on by
// run() when no handler of Asio is on the stack.
//
// Thread safety: one thread at a time; wake() from any. No Boost in this header: it is compiled in one place.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "engine/engine.hpp"
#include "engines/redis/config.hpp"
#include "engines/redis/scripts.hpp"
#include "engines/redis/server_clock.hpp"

#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tyer::redis {

// What came back for one command. Valid during the call.
struct received {
  engine::time_point sent, came;
  std::span<const std::string_view> words;  // the leaves of the answer, in order; nesting is lost
  const engine::failure* wrong = nullptr;   // set: there is no answer, or the server said no
};
using then = core::function<void(const received&), 112>;

class connection {
 public:
  // Called from run() only.
  class listener {
   public:
    virtual void on_up(const engine::server_facts&) = 0;
    virtual void on_down(const engine::failure&) = 0;
    virtual void on_message(std::string_view) = 0;  // from the inbox

   protected:
    ~listener() = default;
  };

  struct settings {
    config where;
    std::string inbox;  // channel
    std::chrono::milliseconds request_timeout;
    std::uint64_t seed;  // of the jitter between attempts
    const core::clock* clock;
    log_hook log;
    std::span<const script* const> loads = scripts::all;
  };

  explicit connection(settings);
  ~connection();

  void open(listener&);

  // Never fail: what goes wrong comes back through `then`.
  void call(const script&, std::span<const std::string_view> words, then);  // words: as after EVALSHA sha1
  void command(std::string_view name, std::span<const std::string_view> words, then);
  // Comes back from the next run() as this failure.
  void refuse(engine::failure, then);

  void close(core::function<void()> done);

  const server_clock& clock() const noexcept;
  void read_clock();  // soon

  void run(engine::time_point until);
  void wake() noexcept;

 private:
  class body;
  std::unique_ptr<body> body_;
};

}  // namespace tyer::redis
