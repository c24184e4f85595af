// The connection of one session: to any of the servers, repaired for as long as the session may live.
//
//   state      | left by
//   -----------+----------------------------------------------------------------------------------------------------------
//   away       | the time of the next attempt
//   connecting | connected, TLS and all; refused, failed or too slow: away, and the next server's turn
//   connected  | lost, silent for too long, of no more use: away, and the next server's turn
//   ended      | never
//
// Every attempt has at most a sixth of the time of the session, half a second at least, and no more than 10 s.
//
// Thread safety: none.
#pragma once

#include "core/clock.hpp"
#include "core/uri.hpp"
#include "engines/kit/options.hpp"
#include "engines/zookeeper/wire/loop.hpp"
#include "engines/zookeeper/wire/session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tyer::zookeeper::wire {

inline constexpr std::uint16_t default_port = 2181;

struct where {
  std::vector<core::endpoint> hosts;
  bool tls = false;
  kit::tls_options files;
  credentials who;
};

class connection {
 public:
  class listener : public session::listener {
   public:
    // Also for an attempt that failed. Refused: this server does not want the credentials.
    virtual void on_down(const std::string& words, bool refused) = 0;

   protected:
    ~listener() = default;
  };

  connection(loop&, const core::clock&, const where&, std::size_t first_host, milliseconds timeout, listener&);
  ~connection();
  connection(const connection&) = delete;

  wire::session& session() noexcept { return session_; }
  const wire::session& session() const noexcept { return session_; }
  // Of the server that it is or was last connected to.
  const std::string& server() const noexcept { return server_; }

  void flush();
  void leave(const std::string& words);  // this server for the next one
  void rest_until(time_point t) noexcept { next_attempt_ = t; }
  void end();  // no more attempts, nobody is told anything
  time_point due() const noexcept;
  void on_time(time_point now);

 private:
  class line;
  enum class state { away, connecting, connected, ended };
  void attempt(time_point now);
  void on_connected();
  void on_bytes(std::string bytes);
  void on_lost(const std::string& words);

  loop* loop_;
  const core::clock* clock_;
  const where* where_;
  std::size_t next_host_;
  listener* listener_;
  wire::session session_;
  std::shared_ptr<line> line_;
  std::string server_;
  state state_ = state::away;
  std::uint32_t failures_ = 0;
  time_point next_attempt_{}, give_up_at_{};
};

}  // namespace tyer::zookeeper::wire
