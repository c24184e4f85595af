// A deployment with one server for all keys: the one in the URI, or the current master according to the sentinels.
#pragma once

#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/deployment/replica_confirmer.hpp"

#include <memory>
#include <string>

namespace tyer::redis {

class one_server : public deployment {
 public:
  one_server(loop& l, const connection_factory& m, const core::endpoint& server)
      : main_(l, m.at(server, connection::use::locks)) {
    if (m.where.replicas == 0) return;
    witness_ = std::make_unique<replica_confirmer>(l, m.at(server, connection::use::asking), m.where.replicas);
  }

  void open(connection::listener& l) override {
    main_.open(l);
    if (witness_) witness_->open();
  }

  void call(const script& s, std::span<const std::string_view> words, reply_handler back) override {
    main_.call(s, words, std::move(back));
  }
  void refuse(engine::failure f, reply_handler back) override { main_.refuse(std::move(f), std::move(back)); }

  // In RESP2 there may be several servers behind a proxy.
  bool one_name_per_call() const noexcept override { return !main_.speaks_resp3(); }
  bool pushes() const noexcept override { return main_.speaks_resp3(); }

  const server_clock& clock(std::string_view) const override { return main_.clock(); }
  void read_clocks() override { main_.read_clock(); }

  void confirm(const core::endpoint&, std::string_view key, confirmed back) override {
    witness_->confirm(main_.facts().id, key, std::move(back));
  }

  std::vector<connection*> masters() override { return {&main_}; }

  void close(core::function<void()> done) override {
    if (!witness_) return main_.close(std::move(done));
    main_.close([this, done = std::move(done)]() mutable { witness_->close(std::move(done)); });
  }

 protected:
  void move_to(const core::endpoint& server, const std::string& why) {
    main_.move_to(server, why);
    if (witness_) witness_->move_to(server, why);
  }

  connection main_;

 private:
  std::unique_ptr<replica_confirmer> witness_;
};

}  // namespace tyer::redis
