// The bare engine: a socket, requests written by hand, replies counted by hand. As little as a client can do.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// One RESP2 connection on a blocking socket.
class wire {
 public:
  explicit wire(const std::string& uri);  // redis://host:port
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  // Appends a command to what is to be sent.
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) { add(std::span{words.begin(), words.size()}); }
  void flush();
  // One whole reply, blocking; only simple types (status, error, integer, bulk). The view lives until the next call.
  std::string_view reply();
  // True if a whole reply is already here.
  bool has_reply() const;

  std::string_view call(std::initializer_list<std::string_view> words);

 private:
  std::size_t whole() const;  // bytes of the first whole reply, or 0

  int socket_ = -1;
  std::string out_;
  std::string in_;
  std::size_t at_ = 0;
};

}  // namespace bench
