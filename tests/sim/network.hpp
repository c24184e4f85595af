// Connections between clients and the server: in order, but slow, deaf, cut, and sometimes executed long after.
//
//   request   leaves ──▶ pipe, in order ──▶ server, unless it is paused ──▶ answer, in any order ──▶ client
//
// A pipe that is cut takes its unread requests with it, or keeps them in the server's socket for a while: those are
// executed late, when their client has given up on them or has sent others through a new pipe.
#pragma once

#include "sim/call.hpp"
#include "sim/dice.hpp"
#include "sim/server.hpp"
#include "sim/world.hpp"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace tyer::sim {

// How bad it is for one client, and until when.
struct weather {
  moment slow, lossy, deaf, repeating;
  duration slowness{};
};

struct pipe {
  std::size_t client;
  bool open = true;
  bool emptied = false;                              // cut, and nothing of it arrives any more
  moment lingers_until;                              // cut, and what was under way arrives then
  moment last_arrival;                               // nothing overtakes
  std::deque<std::uint64_t> under_way;               // serials that the server has not read
  std::deque<call_ptr> unread;                       // arrived while the server was paused
  std::function<void(std::uint64_t, answers)> back;  // to the client
};
using pipe_ptr = std::shared_ptr<pipe>;

class network {
 public:
  network(world& w, server& s, dice d) : world_(w), server_(s), dice_(d) {}

  pipe_ptr connect(std::size_t client, std::function<void(std::uint64_t, answers)> back);
  void send(const pipe_ptr& p, call_ptr c);
  // The client's end is gone. Returns the calls that certainly will not be executed.
  std::vector<std::uint64_t> cut(const pipe_ptr& p, bool lingers);

  void pause_server() { server_.paused = true; }
  void resume_server();
  void drop_unread();  // the server's sockets are gone with it

  bool push_is_lost(std::size_t client);
  duration latency(std::size_t client);

  std::array<weather, clients> over{};

 private:
  void arrive(const pipe_ptr& p, call_ptr c);
  void execute(const pipe_ptr& p, const call& c);
  void read_all(const pipe_ptr& p);

  world& world_;
  server& server_;
  dice dice_;
  std::vector<pipe_ptr> waiting_;  // for the server to go on
};

}  // namespace tyer::sim
