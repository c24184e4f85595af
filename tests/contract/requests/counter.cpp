#include "contract/requests/counter.hpp"

#include "etcd/server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <cstdlib>
#include <memory>
#include <string>

namespace tyer::contract {

struct request_counter::source {
  virtual ~source() = default;
  virtual std::uint64_t requests() = 0;
  virtual bool is_etcd() const = 0;
};

namespace {

template <class Base>
struct etcd final : Base {
  explicit etcd(const std::string& uri) : server(uri) {}
  std::uint64_t requests() override { return server.requests(); }
  bool is_etcd() const override { return true; }
  const bench::etcd_server server;
};

template <class Base>
struct redis final : Base {
  explicit redis(const std::string& uri) : server(uri) {}
  // The engine's requests are scripts; what these call is counted besides, and is not meant.
  std::uint64_t requests() override { return static_cast<std::uint64_t>(server.calls()["evalsha"]); }
  bool is_etcd() const override { return false; }
  test::raw_redis server;
};

}  // namespace

request_counter::request_counter() {
  const std::string uri = std::getenv("TYER_URI");
  if (uri.starts_with("etcd"))
    source_ = std::make_unique<etcd<source>>(uri);
  else
    source_ = std::make_unique<redis<source>>(uri);
}
request_counter::~request_counter() = default;

bool request_counter::is_etcd() const { return source_->is_etcd(); }
std::uint64_t request_counter::requests() const { return source_->requests(); }

}  // namespace tyer::contract
