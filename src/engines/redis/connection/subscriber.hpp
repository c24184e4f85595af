// A connection that only listens, to any number of channels.
//
// It is apart from the one that locks because a server may refuse a subscription (an ACL, a slot that has moved) with an
// error that nobody has asked for, and Boost.Redis would take it for the answer to whatever was asked last.
//
// What is listened to is listened to again after the connection was lost. Messages of the time between are lost: whoever
// listens is told when it begins (again), and has to look for itself then.
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
    virtual void on_deaf(std::string_view channel) = 0;  // the server does not let us listen there (any more)

   protected:
    ~listener() = default;
  };

  // `sharded`: the channels belong to shards of a cluster (SSUBSCRIBE). Of the settings, inbox and purpose are its own matter.
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

  // Stays until the server has answered everything: an answer to an earlier request must not be taken for one to the last.
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
