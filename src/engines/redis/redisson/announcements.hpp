// Listens to the channels on which Redisson announces that a name is free, at the server that has the name.
//
// In a cluster Redisson says it with SPUBLISH, in the shard of the name; before 3.18, or with its sharded subscriptions
// switched off, with PUBLISH to all nodes. Which of them others use is not known, so both are listened to.
//
// A channel moves when somebody listens to it again at another server: whoever waits asks now and then in any case.
//
// Thread safety: that of the loop.
#pragma once

#include "engines/redis/connection/loop.hpp"
#include "engines/redis/connection/subscriber.hpp"
#include "engines/redis/deployment/deployment.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::redis::redisson {

class announcements final : subscriber::listener, loop::timer {
 public:
  class listener {
   public:
    virtual void on_announced(std::string_view channel) = 0;  // or it may have been announced before we listened
    virtual void on_deaf(std::string_view channel) = 0;       // the server refuses the subscription

   protected:
    ~listener() = default;
  };

  announcements(loop&, const connection_factory&, listener&);
  ~announcements() { loop_->leave(*this); }

  // Idempotent. The first call makes a connection to that server.
  void listen(const std::string& channel, const core::endpoint& server);
  void unlisten(const std::string& channel);

  void close(core::function<void()> done);

 private:
  using time_point = engine::time_point;

  // The connections to one server.
  struct post {
    std::vector<std::unique_ptr<subscriber>> ears;
    std::size_t channels = 0, open = 0;
    time_point needed{};
  };

  post& at(const core::endpoint&);
  void leave(std::unique_ptr<post>);
  void end_when_closed();

  void on_heard(std::string_view channel, std::string_view) override { listener_->on_announced(channel); }
  void on_listening(std::string_view channel) override { listener_->on_announced(channel); }
  void on_deaf(std::string_view channel) override { listener_->on_deaf(channel); }

  void tick(time_point) override;
  time_point due() const override;

  loop* loop_;
  connection_factory m_;
  listener* listener_;
  std::map<std::string, post*> channels_;
  std::vector<std::unique_ptr<post>> posts_, leaving_;
  core::function<void()> closed_;
  bool closing_ = false;
};

}  // namespace tyer::redis::redisson
