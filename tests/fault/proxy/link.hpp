// One client's connection through the proxy, and its twin to the server.
#pragma once

#include "proxy/grpc.hpp"
#include "proxy/request.hpp"
#include "proxy/resp.hpp"
#include "proxy/tickets.hpp"
#include "proxy/zookeeper.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fault {

enum class drop_by : std::uint8_t {
  close,  // the reply vanishes and the connection is reset
  hole,   // the reply vanishes and the connection stays open, mute for ever
};

// What the proxy is told to do, shared by all links.
struct orders {
  struct drop {
    std::uint32_t left = 0;  // how many more replies of the kind
    drop_by how = drop_by::close;
  };
  std::array<drop, kind_names.size()> drops{};
  std::int64_t delay_ns = 0, jitter_ns = 0;  // each way
  bool frozen = false;                       // nothing moves; what is under way arrives after the thaw
  // Who has said one of these words has no connection; without a word, nobody has one.
  std::optional<std::vector<std::string>> cut;
};

enum class language : std::uint8_t {
  redis,
  grpc,  // of etcd
  zookeeper,
  any,  // nothing is known of requests and replies
};

// Sans I/O: bytes in, bytes out when they are due. The proxy owns the descriptors.
class link {
 public:
  // What can be seen of the engine's queues is noted.
  using scribe = std::function<void(const event&)>;
  link(orders& o, request_reader& reader, scribe note = {}, language spoken = language::redis)
      : orders_(o), reader_(reader), note_(std::move(note)), spoken_(spoken) {}

  // Bytes from the client, read now, on their way to the server. Throws std::runtime_error if they are not of the language.
  void from_client(std::string_view bytes, std::int64_t due_ns, std::int64_t now = 0);

  // Bytes from the server. Gives the kind of the reply that was dropped, if one was: what follows it never arrives.
  std::optional<kind> from_server(std::string_view bytes, std::int64_t due_ns, std::int64_t now = 0);

  // After a drop by close: end the connection as soon as what came before it is written.
  bool closing() const { return ended_ && *ended_ == drop_by::close; }

  // It is to be reset. In HTTP, who speaks is in the first lines of a request; a connection is used for many, and what
  // the last of them brought has not gone on yet.
  bool is_cut() const;

  struct chunk {
    std::int64_t due_ns = 0;
    std::string bytes;
  };
  std::deque<chunk> to_server, to_client;

 private:
  struct expected {
    kind what = kind::other;
    std::optional<drop_by> drop;
    std::vector<ticket> tickets;
    std::int64_t arrived = 0;
  };
  void expect(std::string_view message, std::int64_t now);
  std::optional<drop_by> ordered_drop(kind);
  std::optional<kind> frames_from_server(std::int64_t due_ns);
  std::optional<kind> packets_from_server(std::int64_t due_ns);
  void note(const std::vector<event>& events);

  orders& orders_;
  request_reader& reader_;
  scribe note_;
  language spoken_;
  std::string client_bytes_, server_bytes_;
  std::string first_said_, last_said_;
  resp_scanner requests_, replies_;
  std::deque<expected> expected_;
  grpc_requests messages_;
  std::map<std::uint32_t, expected> to_drop_;  // by stream, or by the number of the request
  zookeeper_requests packets_;
  bool welcomed_ = false;
  std::optional<drop_by> ended_;
};

}  // namespace fault
