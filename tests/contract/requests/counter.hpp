// What the server says it was asked: etcd in its metrics, Redis in its statistics of commands, a database in those of statements.
#pragma once

#include <cstdint>
#include <memory>

namespace tyer::contract {

class request_counter {
 public:
  enum class family : std::uint8_t { redis, etcd, postgres, mysql };

  request_counter();  // of the server at TYER_URI
  ~request_counter();

  family of() const { return of_; }
  std::uint64_t requests() const;

  struct source {
    virtual ~source() = default;
    virtual std::uint64_t requests() = 0;
  };

 private:
  const family of_;
  const std::unique_ptr<source> source_;
};

// Each of a database whose client library the tests may lack: null then.
std::unique_ptr<request_counter::source> postgres_requests();
std::unique_ptr<request_counter::source> mysql_requests();

}  // namespace tyer::contract
