// A fake etcd behind `wire`, on virtual time: this file and its .cpp take the place of wire/, so that the engine above
// is the real one, to the last line.
//
// Every call may be lost on its way there or back, delayed, refused, broken off after it was done, or done twice; by chance
// or as a script says. A stream loses and repeats no single message, as no connection does: it is stalled, and cut.
// Thread safety: for one thread. Of several fakes, `wire` reaches the one that this thread has made last.
#pragma once

#include "sim/dice.hpp"
#include "sim/etcd/store.hpp"
#include "sim/world.hpp"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sim::etcd {

inline constexpr std::size_t clients_max = 256;
inline constexpr std::size_t servers = 3;  // all of them have the same data

struct exchange {
  std::size_t client, server;
  std::string_view method;  // Txn, Range, LeaseGrant …
  const std::string& request;
};

// What becomes of one call.
struct journey {
  duration there{}, back{};
  bool request_lost = false, answer_lost = false;  // it ends at its deadline
  bool refused = false;                            // nothing was done, and the caller is told so: unavailable
  bool busy = false;                               // nothing was done: the server has too many requests
  bool broken_off = false;                         // it was done, and the connection broke: unavailable
  bool repeated = false;                           // it is done twice, and answered as the second time
};

class stream_end;  // the server's

using told_in_run = std::deque<std::function<void()>>;  // what a client is told when its loop runs

class fake_etcd {
 public:
  fake_etcd(world&, store&);
  ~fake_etcd();
  fake_etcd(const fake_etcd&) = delete;

  static fake_etcd& here();

  // --- what goes wrong ---

  std::function<journey(const exchange&)> decide;                                                     // of each call
  std::function<duration(std::size_t client)> latency = [](std::size_t) { return duration{500us}; };  // of a stream
  void cut(std::size_t client);                                                                       // its streams end
  void stall(std::size_t client, moment until);  // what is on its streams arrives then
  // The server that a client is with has not heard what was written: its watches tell nothing, reads ask the others.
  std::function<bool(std::size_t client)> lags = [](std::size_t) { return false; };
  // A watch of that client has to catch up with what was written: then etcd does not say how far all of them are.
  std::function<bool(std::size_t client)> catches_up = [](std::size_t) { return false; };
  // Its server says that its watches are as far as the data before it has told them so: as etcd does before 3.4.25 and 3.5.8.
  std::function<bool(std::size_t client)> answers_ahead = [](std::size_t) { return false; };
  void pause();  // the servers take everything and do nothing
  void resume();
  void set_up(std::size_t server, bool up);
  void
  set_back();  // all servers are other ones from now on, with the data of the copy: what is on its way reaches nobody
  bool connecting = false;                               // channels are on their way all the time: nothing arrives
  std::array<std::uint64_t, servers> clusters{1, 1, 1};  // which each says that it is of
  std::array<std::string, servers> versions{"3.5.16", "3.5.16", "3.5.16"};  // empty: it tells it to nobody
  std::array<bool, servers> learners{};   // which do not take part yet, and tell nothing but their status
  std::optional<std::size_t> watched_by;  // the server that watches, behind an address of several

  // With a password, everybody has to log in, and what was given out before expire_tokens() is not known any more.
  std::string password;
  void expire_tokens() { ++tokens_; }
  std::function<bool(const std::string& key)> denies;  // to read it, to whoever asks

  // Runs something inside a client's process, now or later: not while it stands still.
  std::function<void(std::size_t client, task)> inside = [](std::size_t, task t) { t(); };
  std::size_t acting = 0;  // the client that is running: a timer is of the one who sets it

  std::function<void(const exchange&, std::string& request)> bend;  // a bug of an engine, planted: it sends another

  std::uint64_t lives = 0;  // of the servers, one after the other
  std::uint64_t calls = 0, messages = 0, connections = 0, logins = 0;
  std::function<void(const exchange&)> on_call;  // each call as it leaves, and each message on a stream

  // --- for wire ---

  void at_server(std::size_t server, moment sent_by, task);  // now, or when it goes on
  wire::status check(std::string_view method, const std::string& token) const;
  wire::status execute(std::size_t server, std::string_view method, const std::string& request, std::string& response);
  void join(const std::shared_ptr<stream_end>&);
  bool is_up(std::size_t server) const { return up_[server]; }
  moment stalled(std::size_t client) const { return stalled_[client]; }
  // A call and who waits for it keep each other; the wire ends every call, the end of a simulation does not.
  void forget_at_the_end(task t) { at_the_end_.push_back(std::move(t)); }

  world& time;
  store& data;

 private:
  void tell_watchers();
  void look_at_leases();

  fake_etcd* before_;
  std::vector<task> at_the_end_;
  wire::status log_in(std::size_t server, const std::string& request, std::string& response);

  int tokens_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::array<bool, servers> up_{true, true, true};
  std::array<moment, clients_max> stalled_{};
  struct waiting {
    moment until;
    task what;
  };
  bool paused_ = false;
  std::vector<waiting> waiting_;
  std::vector<std::weak_ptr<stream_end>> streams_;
};

}  // namespace tyer::sim::etcd
