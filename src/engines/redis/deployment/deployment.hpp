// The servers behind one engine: a single one, the master that sentinels name, or the masters of a cluster. The key of a
// call decides where it goes.
//
// Thread safety: that of the loop.
#pragma once

#include "engines/redis/config.hpp"
#include "engines/redis/connection/connection.hpp"
#include "engines/redis/connection/loop.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::redis {

class deployment {
 public:
  virtual ~deployment() = default;

  // The listener gets on_up() for a master that is (again) reachable, which renews everything (a spurious on_up() is
  // harmless), and on_down() when no master is reachable.
  virtual void open(connection::listener&) = 0;

  // words: as after EVALSHA sha1, so words[1] is a key. See one_name_per_call().
  virtual void call(const script&, std::span<const std::string_view> words, reply_handler) = 0;
  virtual void refuse(engine::failure, reply_handler) = 0;  // comes back in the next turn

  // True if a call must not contain several names, since they may be on different servers.
  virtual bool one_name_per_call() const noexcept { return false; }

  // Whether messages are pushed to us at all: see resp2.hpp.
  virtual bool pushes() const noexcept { return true; }

  // A number that differs for keys on different servers.
  virtual std::uint32_t group(std::string_view) const { return 0; }

  // Whether wake-ups arrive on a channel for each name. Then the engine reports which ids wait for which key, and how long
  // to stay subscribed.
  virtual bool listens_for_names() const noexcept { return false; }
  virtual void waits(std::string_view, const engine::id&, [[maybe_unused]] engine::time_point asked,
                     [[maybe_unused]] std::chrono::milliseconds worth_listening) {}
  // True if its wake-up may have been missed.
  virtual bool waits_no_more(std::string_view, const engine::id&) { return false; }

  // The clock of the server that has this key.
  virtual const server_clock& clock(std::string_view key) const = 0;
  virtual void read_clocks() = 0;  // soon

  // Whether everything that this server, which has this key, has answered so far is also on as many replicas as
  // `?replicas=` requires. Never answers inline; a null pointer means yes.
  using confirmed = core::function<void(const engine::failure*), 64>;
  virtual void confirm(const core::endpoint& server, std::string_view key, confirmed) = 0;

  // For listing and diagnosis, which have no key. The order is stable while nothing changes; empty while no master is
  // known. Each may be gone once it has answered.
  virtual std::vector<connection*> masters() = 0;

  virtual void close(core::function<void()> done) = 0;
};

inline engine::failure no_servers() {
  return {engine::why::not_sent, make_error_code(errc::unavailable), "it is not known yet where the servers are"};
}

// Answers an empty batch in the next turn without a request, which would have no key: see resp2.hpp.
inline void keep_nothing(deployment& d, engine::reply<engine::kept> back) {
  d.refuse(no_servers(), [back = std::move(back)](const received& r) mutable { back({r.sent, engine::kept{}}); });
}

// What a deployment must know of the scripts that it is given to call.
struct layout_scripts {
  std::span<const script* const> all;

  // The argument behind the id (ARGV[2]) may contain a time of one server's clock. Converts it for a server whose clock is
  // ahead by `ahead`; the arguments of other scripts do not change.
  std::string (*for_another_clock)(std::string_view script, std::string_view argument, std::chrono::microseconds ahead);
};

// What every deployment makes its connections from.
struct connection_factory {
  config where;
  std::string inbox;
  std::chrono::milliseconds request_timeout;
  std::uint64_t seed;
  const core::clock* clock;
  log_hook log;
  layout_scripts scripts;

  connection::settings at(const core::endpoint& server, connection::use purpose) const {
    return {where.at(server), inbox, request_timeout, seed, clock, log, purpose, scripts.all};
  }
};

std::unique_ptr<deployment> make_one_server(loop&, connection_factory);
std::unique_ptr<deployment> make_sentinel(loop&, connection_factory);
std::unique_ptr<deployment> make_cluster(loop&, connection_factory);

// The one that the URI asks for.
std::unique_ptr<deployment> make_deployment(loop&, connection_factory);

// With ?replicas= an answer counts only when the replicas have it. Otherwise its fate is unknown: a failover may forget it.
// The caller then repeats the request with the same id, or gives up and releases it.
template <class T>
void once_confirmed(deployment& d, const core::endpoint& server, std::string_view key, engine::outcome<T> o,
                    engine::reply<T> back) {
  auto held = std::make_shared<std::pair<engine::outcome<T>, engine::reply<T>>>(std::move(o), std::move(back));
  d.confirm(server, key, [held](const engine::failure* f) {
    if (f != nullptr) held->first.result = *f;
    held->second(std::move(held->first));
  });
}

}  // namespace tyer::redis
