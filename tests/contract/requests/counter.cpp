#include "contract/requests/counter.hpp"

#include "etcd/server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <cstdlib>
#include <memory>
#include <string>

namespace tyer::contract {

namespace {

using family = request_counter::family;

struct etcd final : request_counter::source {
  explicit etcd(const std::string& uri) : server(uri) {}
  std::uint64_t requests() override { return server.requests(); }
  const bench::etcd_server server;
};

struct redis final : request_counter::source {
  explicit redis(const std::string& uri) : server(uri) {}
  // The engine's requests are scripts; what these call is counted besides, and is not meant.
  std::uint64_t requests() override { return static_cast<std::uint64_t>(server.calls()["evalsha"]); }
  test::raw_redis server;
};

std::string uri() { return std::getenv("TYER_URI"); }

family family_of(const std::string& u) {
  if (u.starts_with("etcd")) return family::etcd;
  if (u.starts_with("postgres")) return family::postgres;
  return u.starts_with("mysql") ? family::mysql : family::redis;
}

std::unique_ptr<request_counter::source> source_of(family f) {
  switch (f) {
    case family::etcd: return std::make_unique<etcd>(uri());
#ifdef TYER_COUNTS_POSTGRES
    case family::postgres: return postgres_requests();
#endif
#ifdef TYER_COUNTS_MYSQL
    case family::mysql: return mysql_requests();
#endif
    default: return std::make_unique<redis>(uri());
  }
}

}  // namespace

request_counter::request_counter() : of_(family_of(uri())), source_(source_of(of_)) {}
request_counter::~request_counter() = default;

std::uint64_t request_counter::requests() const { return source_->requests(); }

}  // namespace tyer::contract
