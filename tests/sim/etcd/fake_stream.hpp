// The streams of the fake etcd: keep-alives and watches, in order, both ways.
#pragma once

#include "sim/etcd/fake_etcd.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace tyer::sim::etcd {

class stream_end : public wire::stream, public std::enable_shared_from_this<stream_end> {
 public:
  stream_end(fake_etcd&, std::weak_ptr<told_in_run>, std::size_t client, std::size_t server, std::string_view method,
             std::string token, std::function<void(std::string)> on_message, std::function<void(wire::status)> on_end);
  virtual ~stream_end() = default;

  void send(const std::string&) override;
  void cancel() override { end({wire::code::cancelled, "fake: cancelled"}); }

  void end(wire::status);
  void tell();  // what its watches have not been told yet
  std::size_t client() const { return client_; }
  std::size_t server() const { return server_; }

 private:
  struct watch {
    std::string from, to;
    bool deletions_only = false;
    std::int64_t next = 0;
    std::int64_t start = 0;
  };
  void keep_alive(const pb::LeaseKeepAliveRequest&);
  void change_watches(const pb::WatchRequest&);
  void say_how_far();
  void answer(const std::string& bytes);

  fake_etcd& fake_;
  const std::weak_ptr<told_in_run> news_;
  const std::size_t client_, server_;
  const std::string method_, token_;
  std::function<void(std::string)> message_;
  std::function<void(wire::status)> end_;
  moment last_there_, last_back_;
  std::map<std::int64_t, watch> watches_;
  std::set<std::int64_t>
      compacted_;          // etcd has told of their end, and keeps them among its watches until they are cancelled
  std::int64_t told_ = 0;  // all until then
  bool ended_ = false;
};

}  // namespace tyer::sim::etcd
