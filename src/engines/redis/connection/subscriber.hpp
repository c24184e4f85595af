// A connection that only listens, to any number of channels.
//
// It is separate from the connection for locks because a server may refuse a subscription (an ACL, a slot that has moved)
// with an unexpected error, and Boost.Redis would take that for the answer to another request.
//
// Channels are subscribed again after the connection was lost. Messages in between are lost: the listener is told when a
// subscription begins (again), and must then check for itself.
#pragma once

#include "engines/redis/connection/connection.hpp"

#include <map>
#include <string>
#include <string_view>

namespace tyer::redis {

class subscriber final : connection::listener {
 public:
  // Called by the loop only.
  class listener {
   public:
    virtual void on_heard(std::string_view channel, std::string_view message) = 0;
    virtual void on_listening(
        std::string_view channel) = 0;                   // from now on nothing is missed, until the connection is lost
    virtual void on_deaf(std::string_view channel) = 0;  // the server refuses this subscription (from now on)

   protected:
    ~listener() = default;
  };

  // `sharded`: the channels belong to shards of a cluster (SSUBSCRIBE). It sets inbox and purpose of the settings itself.
  subscriber(loop&, connection::settings, bool sharded);

  void open(listener&);
  void listen(std::string_view channel);
  void unlisten(std::string_view channel);
  bool listens(std::string_view channel) const;  // for certain

  void move_to(const core::endpoint& server, const std::string& why) { link_.move_to(server, why); }
  const core::endpoint& server() const noexcept { return link_.server(); }
  void close(core::function<void()> done) { link_.close(std::move(done)); }

 private:
  enum class state : std::uint8_t { silent, asked, heard };

  // Kept until the server has answered every request: an answer to an earlier request must not be taken for one to the
  // last.
  struct place {
    bool wanted = false;
    state now = state::silent;
    std::uint32_t unanswered = 0;
  };
  using places = std::map<std::string, place, std::less<>>;

  void ask(std::string_view channel, place&);
  void answered(places::iterator);
  void on_up(const engine::server_facts&) override;
  void on_down(const engine::failure&) override;
  void on_message(std::string_view) override {}
  void on_heard(std::string_view channel, std::string_view message) override;
  void on_listening(std::string_view channel) override;
  void on_no_longer_listening(std::string_view channel) override;
  void on_not_allowed(std::string_view error) override;

  bool sharded_;
  listener* listener_ = nullptr;
  places channels_;
  connection link_;
};

}  // namespace tyer::redis
