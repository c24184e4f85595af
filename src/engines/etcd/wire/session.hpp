// One HTTP/2 connection with gRPC in it, without I/O: bytes in, bytes out. The only file that knows nghttp2 is its .cpp.
//
// Streams are told what came inside feed(), and must only take note: nothing of the session may be called from there.
// What has gone wrong with the connection as a whole is said by feed() and output() in false, and why().
// Thread safety: none.
#pragma once

#include "engines/etcd/wire/message.hpp"
#include "engines/etcd/wire/wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

struct nghttp2_session;

namespace tyer::etcd::wire {

class session {
 public:
  // A longer answer ends its call. As much memory is taken as has come, not as was announced.
  static constexpr std::size_t message_max = std::size_t{512} << 20;

  // One call. It belongs to a session from begin() until on_end(), cancel() or the end of the session.
  class stream {
   public:
    explicit stream(std::size_t longest = message_max) : in_(longest) {}
    virtual void on_message(std::string) = 0;
    virtual void on_end(status) = 0;
    bool was_sent() const { return sent_; }  // some of it may have left

   protected:
    ~stream() = default;

   private:
    friend class session;
    std::int32_t number_ = 0;
    bool sent_ = false, last_ = false;
    std::string out_;  // framed messages that have not left
    std::size_t out_at_ = 0;
    message_reader in_;
    int http_ = 0;
    std::optional<int> grpc_;
    std::string reason_;
    bool is_grpc_ = false;
  };

  struct request {
    const char* path;  // of static duration
    std::string_view token;
    std::optional<std::chrono::nanoseconds> within;
  };

  session(std::string authority, bool tls);
  ~session();
  session(const session&) = delete;

  bool is_ready() const { return ready_; }            // the server has said what it wants to have
  bool is_going_away() const { return going_away_; }  // the server begins with nothing new
  bool is_idle() const { return streams_.empty(); }
  const std::string& why() const { return why_; }

  // False: this connection takes no more.
  bool begin(stream&, const request&);
  void send(stream&, std::string_view message, bool last);
  void cancel(stream&);  // which is told nothing more
  void ping();

  bool feed(std::string_view);
  // Appends what is to be written, about that much at the most.
  bool output(std::string& to, std::size_t about);

 private:
  struct hooks;  // what nghttp2 calls

  void end(stream&, status);
  void ended_by_server(std::int32_t number);
  void end_unsent();
  status verdict(const stream&, std::uint32_t error) const;
  void take_header(stream&, std::string_view name, std::string_view value);
  void take_data(stream&, std::string_view);
  void check(long result);

  struct deleter {
    void operator()(nghttp2_session*) const noexcept;
  };
  std::unique_ptr<nghttp2_session, deleter> inside_;
  const std::string authority_;
  const bool tls_;
  std::unordered_map<std::int32_t, stream*> streams_;
  bool ready_ = false, going_away_ = false, broken_ = false;
  std::string why_, last_words_;
};

}  // namespace tyer::etcd::wire
