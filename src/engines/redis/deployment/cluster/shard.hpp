// A node that the cluster client is connected to: asked for the map, and if it is a master, for locks.
//
// Thread safety: that of the loop.
#pragma once

#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/deployment/replica_confirmer.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace tyer::redis {

class shard final : connection::listener {
 public:
  class host {
   public:
    virtual void on_up(shard&, const engine::server_facts&) = 0;
    virtual void on_down(shard&, const engine::failure&) = 0;
    virtual void on_message(shard&, std::string_view) = 0;
    virtual bool on_redirected(shard&, std::string_view error, const script&, std::span<const std::string_view> words,
                               reply_handler&) = 0;

   protected:
    ~host() = default;
  };

  shard(host& h, loop& l, const connection_factory& m, const core::endpoint& at, connection::use purpose)
      : link(l, settings(m, at, purpose)), host_(&h) {
    if (purpose == connection::use::shard && m.where.replicas > 0)
      witness = std::make_unique<replica_confirmer>(l, m.at(at, connection::use::asking), m.where.replicas);
  }

  void open() {
    link.open(*this);
    if (witness) witness->open();
  }

  // All requests under way are answered first. It may be destroyed once `closed`, but not during a callback.
  void close() {
    if (closing) return;
    closing = true;
    link.close([this] {
      if (!witness) return end();
      witness->close([this] { end(); });
    });
  }

  connection link;
  std::unique_ptr<replica_confirmer> witness;  // with ?replicas=
  std::string mark;                            // a key in one of its own slots: the slot of a name may be migrating
  std::size_t slots = 0;
  bool had_none = false;        // no slots before the last change of the map
  std::uint32_t number = 0;     // unique number of a master
  engine::time_point needed{};  // when it was last needed, if it has no slots
  bool away = false;            // as it has said, since:
  engine::time_point away_since{};
  bool asked = false;   // for the map
  std::string trouble;  // why it could not answer
  bool closing = false, closed = false;

 private:
  static connection::settings settings(const connection_factory& m, const core::endpoint& at, connection::use purpose) {
    auto s = m.at(at, purpose);
    if (purpose == connection::use::asking) s.inbox.clear();
    return s;
  }
  void end() { closed = true; }

  void on_up(const engine::server_facts& f) override { host_->on_up(*this, f); }
  void on_down(const engine::failure& f) override { host_->on_down(*this, f); }
  void on_message(std::string_view m) override { host_->on_message(*this, m); }
  bool on_redirected(std::string_view error, const script& s, std::span<const std::string_view> words,
                     reply_handler& back) override {
    return host_->on_redirected(*this, error, s, words, back);
  }

  host* host_;
};

}  // namespace tyer::redis
