// One ZooKeeper session, whatever connection it is on: greeting, credentials, requests in order, watches, pings. A machine: bytes
// and times in, bytes and news out.
//
//   state    | calls                      | left by
//   ---------+----------------------------+--------------------------------------------------------------------------------
//   away     | answered not_sent          | connected(): greeting
//   greeting | answered not_sent          | the server's answer: proving, up, or gone
//   proving  | answered not_sent          | the answers to the credentials: up; refused: the connection is of no use
//   up       | sent                       | lost(): away
//   gone     | answered not_sent          | never: the server does not know the session, or it was given another one
//
// A request that never left is answered not_sent, one that may have left and has no answer unknown. Answers come in the order of
// the requests; anything else is a broken stream. The watches of the connection before are set again in packets of bounded
// length, one after the other.
//
// Limits: a request has at most request_max bytes, an answer answer_max, and in_flight_max requests are under way.
//
// Thread safety: none. Whoever is called back may call, and must not destroy it.
#pragma once

#include "core/function.hpp"
#include "engine/engine.hpp"
#include "engines/zookeeper/wire/codec.hpp"
#include "engines/zookeeper/wire/digest_md5.hpp"

#include <array>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tyer::zookeeper::wire {

using engine::milliseconds;
using engine::time_point;

struct response {
  enum class how : std::uint8_t { answered, not_sent, unknown };
  how is = how::not_sent;
  std::int32_t error = ok;
  time_point sent{};
  std::string_view body{};  // during the call only
  bool says(std::int32_t e) const noexcept { return is == how::answered && error == e; }
  bool good() const noexcept { return says(ok); }
};
using handler = core::function<void(const response&)>;

struct credentials {
  std::string user, password;
  bool sasl = false;  // DIGEST-MD5, else the scheme "digest"
  explicit operator bool() const noexcept { return !user.empty(); }
};

class session {
 public:
  static constexpr std::size_t in_flight_max = 200'000;
  static constexpr int pings = 6;         // in the time of the session, if nothing else is sent
  static constexpr int reads_noted = 32;  // in the time of the session

  class listener {
   public:
    virtual void on_up() = 0;    // timeout() may have changed
    virtual void on_gone() = 0;  // for ever
    virtual void on_event(const event&) = 0;

   protected:
    ~listener() = default;
  };

  session(listener& l, milliseconds timeout, credentials who) : listener_(&l), asked_(timeout), who_(std::move(who)) {}

  // --- the connection

  void connected(std::string_view host, time_point now);
  // False: the connection is of no more use, words() says why, and refused(). Then lost() is to be called.
  bool received(std::string_view bytes, time_point now);
  void lost();
  std::string take_output(time_point now = {});  // it leaves now
  bool has_output() const noexcept { return !out_.empty(); }
  const std::string& words() const noexcept { return words_; }
  bool refused() const noexcept { return refused_; }  // the server does not want these credentials

  // --- requests

  void call(op, std::string body, time_point now, handler);
  // A get_data or get_children that leaves a watch, if there is such a node.
  void watch(op, const std::string& path, time_point now, handler);
  void close(time_point now, handler);

  // --- time

  time_point due() const noexcept;
  bool on_time(time_point now);  // false: nothing was heard for too long

  bool up() const noexcept { return state_ == state::up; }
  bool gone() const noexcept { return state_ == state::gone; }
  bool idle() const noexcept { return flying_.empty() && out_.empty(); }
  std::int64_t number() const noexcept { return number_; }
  milliseconds timeout() const noexcept { return timeout_; }
  time_point greeted() const noexcept { return greeted_; }  // when the greeting of this connection left
  std::size_t in_flight() const noexcept { return flying_.size(); }
  // When the request left that has waited longest for its answer; none has: never.
  time_point waits_since() const noexcept { return flying_.empty() ? time_point::max() : flying_.front().left; }
  // When the last packet had left that the server had certainly read by then, since it was answered; or the greeting, about which
  // every server asks the leader. Only what was answered counts: a process may stand still between any two lines.
  time_point read_by(time_point) const noexcept;
  bool watches_set() const noexcept { return up() && !setting_; }  // all that the connection before had
  std::size_t watches() const noexcept { return watched_.size() + listed_.size(); }

 private:
  enum class state : std::uint8_t { away, greeting, proving, up, gone };
  struct flight {
    std::int32_t xid;
    std::uint64_t end;  // of its bytes in what was sent
    time_point sent;    // it was made
    handler back;
    time_point left = time_point::max();
  };
  struct read {
    time_point left{}, answered{};
  };

  void send(std::int32_t xid, op, std::string_view body, time_point now);
  void queue(op, std::string_view body, time_point now, handler back);
  bool fail(std::string words);
  bool refuse(const std::string& words);
  bool on_packet(std::string_view, time_point now);
  bool on_greeting(std::string_view, time_point now);
  bool on_answer(const header&, std::string_view body, time_point now);
  bool on_reply(const header&, std::string_view body, time_point now);
  void on_ping(time_point now);
  void note_read(time_point left, time_point now) noexcept;
  void prove(time_point now);
  bool on_proof(const header&, std::string_view body, time_point now);
  void settle(time_point now);
  milliseconds patience(milliseconds timeout) const noexcept;
  void set_some_watches(time_point now);

  listener* listener_;
  const milliseconds asked_;
  const credentials who_;
  state state_ = state::away;
  std::string host_, words_;

  std::int64_t number_ = 0, seen_ = 0;  // seen_: the last zxid
  std::string password_ = std::string(16, '\0');
  milliseconds timeout_{};
  std::int32_t last_xid_ = 0;
  std::optional<digest_md5> dialogue_;

  framer in_;
  std::string out_;
  std::uint64_t made_ = 0, handed_ = 0;  // bytes of this connection
  std::deque<flight> flying_;
  std::set<std::string, std::less<>> watched_, listed_;
  std::deque<std::pair<op, std::string>> to_set_;
  std::int64_t set_from_ = 0;
  bool setting_ = false, refused_ = false;
  time_point greeted_{}, sent_{}, heard_{};
  time_point first_ping_{};  // that has no answer
  int pings_flying_ = 0;
  std::array<read, reads_noted> reads_{};  // of this connection, the oldest is overwritten
  std::size_t newest_ = 0;
};

}  // namespace tyer::zookeeper::wire
