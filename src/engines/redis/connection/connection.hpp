// A connection to one server that repairs itself. A loop serves it.
//
//   state       calls                          left by
//   away        answered not_sent              the time of the next attempt
//   arriving    answered not_sent              up: greeted, subscribed, scripts loaded; or away
//   up          collected, sent by the loop    away: lost, silent for too long, moved, or no longer needed
//   closing     answered not_sent              closed: everything that was sent is answered
//
// Calls are collected and sent together: by the next turn of the loop, and while answers are delivered, after every few of
// them, so that the server has work while the rest is delivered. An answer is copied once, where Boost.Redis parses it, and
// delivered when no handler of Asio is on the stack.
//
// Thread safety: that of the loop. No Boost in this header: it is compiled in one place.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "engine/engine.hpp"
#include "engines/redis/config.hpp"
#include "engines/redis/connection/loop.hpp"
#include "engines/redis/connection/server_clock.hpp"
#include "engines/redis/scripts/scripts.hpp"

#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tyer::redis {

// The answer to one command. Valid during the call.
struct received {
  engine::time_point sent, came;
  std::span<const std::string_view> words;  // the leaves of the answer, in order; nesting is lost
  const engine::failure* wrong = nullptr;   // set: there is no answer, or the server answered with an error
  const core::endpoint* by = nullptr;       // the server
};
using reply_handler = core::function<void(const received&), 112>;

class connection {
 public:
  // What the connection is for, which decides what is checked before it is up.
  enum class use : std::uint8_t {
    locks,      // a single server or a master with replicas: loads scripts, reads its clock, checks that it is a master
    shard,      // the same for a node of a cluster
    asking,     // commands only, of a server or a sentinel
    listening,  // to channels only: see subscriber.hpp
  };

  // Called by the loop only.
  class listener {
   public:
    virtual void on_up(const engine::server_facts&) = 0;
    virtual void on_down(const engine::failure&) = 0;
    virtual void on_message(std::string_view) = 0;  // from the inbox

    // For a shard: the server did not execute this call, and `error` says which one would (MOVED, ASK). True: the call was
    // sent there, and the reply_handler was taken. Else the call is answered not_sent.
    virtual bool on_redirected(std::string_view error, const script&, std::span<const std::string_view> words,
                               reply_handler&);

    // With a channel for each name: the subscription is active now, so no wake-up is missed from here on. This id, which
    // waits for the name of this key, may have missed its wake-up before.
    virtual void on_unheard(std::string_view key, const engine::id&);

    // For a listening connection.
    virtual void on_heard(std::string_view channel, std::string_view message);
    virtual void on_listening(std::string_view channel);
    virtual void on_no_longer_listening(std::string_view channel);  // ended by the server
    virtual void on_not_allowed(std::string_view error);  // a subscription was refused; the server does not say which

   protected:
    ~listener() = default;
  };

  struct settings {
    config where;
    std::string inbox;  // channel; none: nothing is subscribed to
    std::chrono::milliseconds request_timeout;
    std::uint64_t seed;  // of the jitter between attempts
    const core::clock* clock;
    log_hook log;
    use purpose = use::locks;
    // The scripts of the locks: a cluster has its own set, see scripts.hpp.
    std::span<const script* const> loads = scripts::all;
  };

  connection(loop&, settings);
  ~connection();  // requests under way are not answered any more

  void open(listener&);

  // Never fail: errors come through the reply_handler.
  void call(const script&, std::span<const std::string_view> words, reply_handler);  // words: as after EVALSHA sha1
  // The same at a node that is taking the key's slot over and does not have it yet.
  void call_asking(const script&, std::span<const std::string_view> words, reply_handler);
  void command(std::string_view name, std::span<const std::string_view> words, reply_handler);
  void info(reply_handler);  // the whole INFO
  // Answers with this failure in the next turn.
  void refuse(engine::failure, reply_handler);

  // Only for a connection that listens, while it is up: forgotten when it is lost.
  void subscribe(std::string_view channel, bool sharded);
  void unsubscribe(std::string_view channel, bool sharded);

  // From now on this is the server. Requests under way to the old one count as lost.
  void move_to(const core::endpoint&, const std::string& why);
  // While it is away: retries now, with the backoff reset, because the server is needed.
  void hurry();
  const core::endpoint& server() const noexcept;

  // Drops the connection and reconnects, as if it had been lost.
  void drop(std::string why);

  void close(core::function<void()> done);

  bool is_up() const noexcept;
  // False: a proxy, or an old server, that speaks RESP2: nothing is pushed, and a call must not have several names.
  bool speaks_resp3() const noexcept;
  const engine::server_facts& facts() const noexcept;  // while it is up
  const engine::failure& absence() const noexcept;     // while it is not
  const server_clock& clock() const noexcept;
  void read_clock();  // soon

 private:
  class body;
  std::shared_ptr<body> body_;  // handlers of Asio keep it alive
};

}  // namespace tyer::redis
