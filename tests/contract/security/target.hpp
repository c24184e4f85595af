// What a test of secrets and TLS talks to, and everything that is said to it.
#pragma once

#include "core/uri.hpp"
#include "unit/redis/own_server.hpp"

#include <tyer/tyer.hpp>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace security {

// What must never be read anywhere. The password has every character that a URI gives a meaning to.
inline const std::string user = "hunter-user", password = "hunter2@:/?#%x", sentinel_password = "hunter3";

// The servers of TYER_KIND, started with these options.
class target {
 public:
  explicit target(const std::string& options);

  const std::string& scheme() const { return address_.scheme; }
  bool has_sentinels() const;
  bool is_database() const;
  void kill() { server_.kill(); }
  void restart() { server_.restart(); }
  // New ones in the files of the old; the servers must be down.
  void exchange_certificates();
  std::string file(const char* name) const { return server_.folder() + "/tls/" + name; }

  // The URI with another login, other options and, if named, another host in place of all.
  std::string uri(const std::string& login, const std::string& query, const std::string& host = {}) const;
  std::string hosts(const std::string& instead = {}) const;
  // As many hosts as there are, where nobody listens.
  std::string dead_hosts() const;
  // What stands behind the hosts: the name of the master.
  std::string path() const { return address_.path.empty() ? "" : "/" + address_.path; }

  // user:password@, and for sentinels the same in the query.
  static std::string login(const std::string& user, const std::string& password);
  std::string sentinel_login(const std::string& user, const std::string& password) const;

 private:
  tyer::test::own_server server_;
  tyer::core::uri address_;
};

// A client, and all it says: lines of its log, words of failures, what() of exceptions.
class talk {
 public:
  // Until it is ready, or has said why not. The limit is that of one request.
  explicit talk(const std::string& uri, std::chrono::milliseconds limit = std::chrono::seconds{5});

  bool ready() const { return ready_; }
  // In the end, whatever it has said before.
  bool comes_up();
  // One attempt to lock; true if it was granted.
  bool locks();
  // From now on, who holds a name: what is wrong with that is said to the log.
  void observes(const std::string& name);
  std::string said();
  // Whether it says something with these words in it, before long.
  bool says(std::string_view words);

 private:
  void hear(std::string_view text);
  void hear(const tyer::failure& f);

  std::mutex mutex_;
  std::string said_;
  bool ready_ = false;
  std::optional<tyer::client> client_;
  std::vector<tyer::observation> observations_;
};

std::string percent_encoded(const std::string& text);

// What the kind of TYER_KIND is of. Redis: or Valkey.
bool asked_of_redis();
bool asked_of_etcd();
bool asked_of_zookeeper();
// A client says so of servers that are away.
std::string_view said_of_those_away();

// The first secret in it, or nothing.
std::string secret_in(const std::string& text);

}  // namespace security
