// Receives wake-ups for waiters: one channel for each name that this client waits for, at the master of its slot.
//
// A message to a sharded channel goes to no other shard of the cluster (ADR 0008). Where the server refuses the
// subscription, waiters poll.
//
// Thread safety: that of the loop.
#pragma once

#include "core/id.hpp"
#include "engines/redis/connection/subscriber.hpp"
#include "engines/redis/deployment/deployment.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tyer::redis {

class wakeups final : subscriber::listener, loop::timer {
 public:
  static constexpr std::size_t channels_max = 10'000;  // waiters for further names poll

  using master_of = std::function<const core::endpoint*(std::uint16_t slot)>;

  // `outer` gets what the engine needs: each message, as from an inbox, and the ids that may have got their turn before the
  // subscription.
  wakeups(loop&, const connection_factory&, master_of, connection::listener*& outer);
  ~wakeups() { loop_->leave(*this); }

  // This id waits for the name of this key, according to the answer to a request sent at `sent`; stay subscribed for it for
  // `how_long`.
  void waits(std::string_view key, const core::id&, engine::time_point sent, std::chrono::milliseconds how_long);
  // True if its wake-up may have been missed.
  bool waits_no_more(std::string_view key, const core::id&);

  // Called when slots may have other masters.
  void follow();

  void close();
  bool closed() const noexcept { return links_.empty() && leaving_.empty(); }

 private:
  using time_point = engine::time_point;

  // The connection to one master.
  struct link {
    link(loop& l, connection::settings s) : hears(l, std::move(s), true) {}

    subscriber hears;
    std::size_t channels = 0;
    time_point needed{};
    bool closed = false;
  };
  struct channel {
    std::string key;
    std::uint16_t slot = 0;
    time_point until{};  // stays subscribed until then, even without waiters
    time_point since{};  // subscribed since, if it is
    link* at = nullptr;  // null: retried later
    time_point again{};
    std::chrono::milliseconds pause{};
    std::unordered_map<core::id, time_point, core::id_hash> waiters;  // and until when to stay subscribed for each
  };
  using channels = std::map<std::string, channel, std::less<>>;

  std::string name_of(std::string_view key) const { return m_->inbox + std::string{key.substr(key.find('{'))}; }
  void listen(const std::string& name, channel&);
  void leave(const std::string& name, channel&);
  link& link_to(const core::endpoint&);
  void sweep(time_point);

  void on_heard(std::string_view channel, std::string_view message) override;
  void on_listening(std::string_view channel) override;
  void on_deaf(std::string_view channel) override;

  void tick(time_point) override;
  time_point due() const override;

  loop* loop_;
  const connection_factory* m_;
  master_of master_;
  connection::listener** outer_;
  channels channels_;
  std::vector<std::unique_ptr<link>> links_, leaving_;
  time_point next_sweep_ = time_point::max();
  bool closing_ = false;
};

}  // namespace tyer::redis
