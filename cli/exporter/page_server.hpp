// One page over HTTP, for scrapers: GET /metrics. Just enough of HTTP/1.1: each connection is for one request and its answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cli {

struct endpoint {
  std::string host;  // an address, as 127.0.0.1 or ::1
  std::uint16_t port = 0;
};

// "127.0.0.1:9465", "[::1]:9465"; throws trouble otherwise.
endpoint parse_endpoint(const std::string& text);

// Serves on a thread of its own from its construction to its destruction. Thread safety: show() from any thread.
class page_server {
 public:
  static constexpr std::size_t connections_max = 32, request_max = 8192;
  static constexpr std::chrono::seconds patience{5};  // for a whole connection

  // Throws trouble if it cannot listen there.
  explicit page_server(const endpoint& at);
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;
  ~page_server();

  void show(std::string text);
  std::string url() const;  // with the port that was found, if 0 was asked for

 private:
  struct visit;
  using visits = std::vector<std::unique_ptr<visit>>;  // the oldest first
  void serve();
  void let_in(visits& all) const;
  static void make_room(visits& all);
  std::string answer_to(const std::string& request) const;
  // False: the connection is over.
  bool go_on(visit& v) const;
  bool read_request(visit& v) const;
  static bool send_answer(visit& v);
  static bool read_rest(const visit& v);

  int listens_ = -1, ends_ = -1;
  mutable std::mutex mutex_;
  std::string text_;
  std::thread thread_;
};

}  // namespace cli
