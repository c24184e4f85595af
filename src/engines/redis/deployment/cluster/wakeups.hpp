// Hears when a waiter has its turn: one channel for each name that somebody of this client waits for, at the master that has it.
//
// A message to a channel of a shard goes to no other node of the cluster (ADR 0008). Where the server does not let us listen,
// waiters look again by themselves.
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

class wakeups final : subscriber::listener, loop::member {
 public:
  static constexpr std::size_t channels_max = 10'000;  // further names are looked at again instead

  using master_of = std::function<const core::endpoint*(std::uint16_t slot)>;

  // Both are told what the engine is: a message as from an inbox; and who may have had its turn before we listened.
  wakeups(loop&, const connection_factory&, master_of, connection::listener*& outer);
  ~wakeups() { loop_->leave(*this); }

  // This id waits for the name of this key, by the answer to what was sent then, and is worth listening for that long.
  void waits(std::string_view key, const core::id&, engine::time_point sent, std::chrono::milliseconds how_long);
  // True if it may have had its turn without our hearing of it.
  bool waits_no_more(std::string_view key, const core::id&);

  // Slots may have other masters now.
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
    time_point until{};  // we listen, also when nobody waits just now
    time_point since{};  // we have listened, if we do
    link* at = nullptr;  // none: it is tried again later
    time_point again{};
    std::chrono::milliseconds pause{};
    std::unordered_map<core::id, time_point, core::id_hash> waiters;  // and until when each is worth listening for
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

  void flush() override {}
  void tick(time_point) override;
  time_point due() const override;
  bool ready() const override { return false; }
  void drain() override {}
  void deliver() override {}
  void broken(const std::string&) override {}

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
