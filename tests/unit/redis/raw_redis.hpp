// A blocking client that says exactly what it is told, for looking at a server from outside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::test {

struct raw_value {
  char type = '_';  // as in RESP2: + - : $ *, and _ for null
  std::string text;
  std::int64_t number = 0;
  std::vector<raw_value> items;

  bool is_error() const { return type == '-'; }
  bool is_null() const { return type == '_'; }
};

class raw_redis {
 public:
  // Throws std::runtime_error if it cannot connect. Plain TCP, no password.
  explicit raw_redis(std::string_view uri);
  ~raw_redis();
  raw_redis(const raw_redis&) = delete;

  raw_value ask(const std::vector<std::string>& words);
  raw_value read();  // a message of a channel

  // How often each command was called since the last CONFIG RESETSTAT, also from inside scripts.
  std::map<std::string, std::int64_t> calls();

 private:
  std::string line();
  std::string bytes(std::size_t);
  void fill();

  int socket_ = -1;
  std::string buffer_;
};

// TYER_URI, or a test failure.
std::string server_uri();

}  // namespace tyer::test
