// What the server counts, read from its /metrics: the bench asks the one who knows.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

class etcd_server {
 public:
  explicit etcd_server(const std::string& uri);  // etcd://host:port, the first if there are several

  // Messages that clients have sent to this server: calls, and each message on a stream.
  std::uint64_t requests() const;
  std::uint64_t requests(const std::string& method) const;  // Txn, LeaseKeepAlive, Watch …
  std::int64_t watch_streams() const;                       // open just now

 private:
  std::string metrics() const;

  std::string host_, port_;
};

}  // namespace bench
