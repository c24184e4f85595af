// All calls to one server, over a connection that comes and goes. No I/O and no clock: bytes and moments are arguments.
//
//   away ──a call is made──▶ arriving ──the server has spoken──▶ up ──lost, silent, or told to go──▶ away
//
// A call waits while the connection arrives, leaves with the next output, and ends once: with its answer, at its deadline, when
// it is cancelled, or with the connection. What never left, or what the server says it has not begun with, is `not sent`; of
// everything else nobody knows.
//
//   from the server                        | calls
//   ---------------------------------------+------------------------------------------------------------------
//   GOAWAY                                 | those it names go on, the others were not sent; no more are begun
//   RST_STREAM                             | refused: not sent; else unknown
//   nothing for `silent_for`, and a call   | it is asked (PING)
//   is under way; nothing `answers_within` | the connection is lost
//
// Thread safety: none.
#pragma once

#include "engines/etcd/wire/session.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

using time_point = lease_clock::time_point;

class traffic {
 public:
  // etcd allows no more than one PING in 5 s.
  static constexpr std::chrono::seconds silent_for{10}, answers_within{5};
  static constexpr std::size_t write_about = 64 << 10;

  enum class state : std::uint8_t { away, arriving, up };

  // One call. Whoever derives from it is told by `ready` that there is something to take.
  class call : public session::stream, public std::enable_shared_from_this<call> {
   public:
    call(const char* path, std::string token, bool both_ways, std::size_t longest = session::message_max)
        : session::stream(longest), path_(path), token_(std::move(token)), both_ways_(both_ways) {}
    virtual ~call() = default;

    virtual void ready() noexcept = 0;
    virtual void forget() noexcept {}  // it was dropped: lets go of who would have been told, who has it, perhaps

    // What has come since. Of a call that is not both ways: nothing before its end.
    std::vector<std::string> take_messages() { return std::exchange(messages_, {}); }
    std::optional<status> take_end() { return std::exchange(end_, {}); }
    bool is_over() const { return over_; }

   private:
    friend class traffic;
    void on_message(std::string) override;
    void on_end(status) override;

    const char* const path_;
    const std::string token_;
    const bool both_ways_;
    bool over_ = false, begun_ = false;
    std::vector<std::string> messages_;
    std::optional<status> end_;
    std::vector<std::string> unsent_;  // before it has begun
    traffic* of_ = nullptr;
    std::shared_ptr<call> self_;  // while it is not over
    std::set<std::pair<time_point, call*>>::iterator place_;
  };

  traffic(std::string authority, bool tls) : authority_(std::move(authority)), tls_(tls) {}
  ~traffic() { drop(); }
  traffic(const traffic&) = delete;

  state now() const { return state_; }
  bool is_idle() const { return all_.empty(); }

  // --- calls ---

  // If it throws, nothing was added. Later than its deadline nothing is told but that.
  void add(const std::shared_ptr<call>&, std::string_view first, time_point now, time_point deadline);
  void send(call&, std::string_view message);
  void cancel(call&);
  void drop() noexcept;  // all of them; nobody is told

  // --- the connection ---

  bool wants_connection() const { return state_ == state::away && !all_.empty(); }
  void arriving() { state_ = state::arriving; }
  void connected(time_point);  // bytes can go both ways; the server speaks first
  // False: there is no connection any more, lost() was called, and the socket can be closed.
  bool feed(std::string_view, time_point);
  bool output(std::string& to, time_point);
  void lost(const std::string& words) noexcept;

  // --- time ---

  time_point due() const;
  bool on_time(time_point);  // false: as above

 private:
  void begin(call&, time_point);
  void begin_waiting(time_point);
  void finish(call&, status) noexcept;
  bool end_if_over();

  const std::string authority_;
  const bool tls_;
  state state_ = state::away;
  std::unique_ptr<session> session_;
  std::set<std::pair<time_point, call*>> all_;
  time_point last_read_{};
  std::optional<time_point> asked_;  // by a PING
};

}  // namespace tyer::etcd::wire
