// Who we are connected to. A machine over a wire: it connects, greets, tries again after a pause, gives up a server that is silent,
// and says "up" and "down" once each; "down" once more if the server turns out to refuse us.
//
//   state    | until                                                          | then
//   ---------+----------------------------------------------------------------+----------------------------------------------
//   away     | the pause is over (kit/reconnect.hpp)                          | arriving
//   arriving | connected and greeted; or that takes too long, or it breaks    | up; away
//   up       | it breaks, or something was asked and no answer came for long  | away: whatever was asked is unknown
//   closed   |                                                                |
//
// What is asked while it is not up waits until it is, or until its deadline: then it was not sent. After a refusal (the login, the
// tables) nothing waits: it is told so at once, until an attempt ends otherwise.
//
// At most `under_way_max` requests are at the server at once; the others wait here, where the more urgent go first. So whatever is
// urgent has at most as many before it, and that is all that a renewal has to wait for.
//
// Thread safety: none. No clock: time comes in.
#pragma once

#include "core/function.hpp"
#include "engines/kit/reconnect.hpp"
#include "engines/sql/wire.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>

namespace tyer::sql {

enum class urgency : std::uint8_t {
  at_once,   // a lease ends without it, or others wait for it: renewals, what is given back, turns
  soon,      // somebody wants something
  some_time  // a look at what may have changed: has one turn of nine while something is wanted
};

// How something is asked.
struct manner {
  core::function<bool()> given_up = nullptr;    // then it is not sent, nor tried again
  milliseconds patience = milliseconds::max();  // with a server that is silent, if less than the link's
  urgency when = urgency::soon;
};

class link final : public wire::user {
 public:
  struct said : std::variant<answers, failure> {
    using variant::variant;
    time_point sent{};  // of answers: when what they answer left. It may have waited here for long
  };
  using then = core::function<void(said&&)>;

  struct setting {
    milliseconds patience;  // with one request
    std::function<exchange()> greeting;
    // What the greeting was answered with: nothing, or why this server will not do.
    std::function<std::optional<failure>(const answers&)> greeted;
    std::function<meaning(const answered&)> what;  // an error means
    std::function<time_point()> now;
    std::function<void()> up;
    std::function<void(const failure&)> down;
    std::function<void(std::string)> rung;
    std::function<void(std::string)> warned = [](std::string) {};
    std::uint64_t seed = 1;  // of the chance in pauses
    std::size_t under_way_max = std::numeric_limits<std::size_t>::max();
  };

  link(std::unique_ptr<wire> w, setting s)
      : wire_(std::move(w)),
        setting_(std::move(s)),
        chance_(static_cast<std::minstd_rand::result_type>(setting_.seed)) {}
  ~link() { wire_->shut(); }

  void open();
  void close() noexcept;
  bool is_up() const noexcept { return state_ == state::up; }
  bool keeps_session() const noexcept { return wire_->keeps_session(); }

  // Answered once: with one answer for each statement, or with why not. Errors of the server that mean "again" are tried again until
  // the deadline.
  void ask(exchange, time_point deadline, manner, then);
  void ask(exchange what, time_point deadline, then back) { ask(std::move(what), deadline, {}, std::move(back)); }

  time_point due() const noexcept;
  void on_time(time_point now);
  void break_off(const std::string& why);  // and arrive anew

 private:
  enum class state : std::uint8_t { away, arriving, greeting, up, closed };
  struct request {
    exchange what;
    time_point deadline, sent = {}, not_before = {};  // sent: or asked, if it could have been sent
    then back;
    manner by;
    std::uint32_t tries = 0;
    bool in_part = false;  // some of its statements were carried out
  };

  void on_open() override;
  void on_answers(std::uint64_t number, answers) override;
  void on_notice(std::string payload) override { setting_.rung(std::move(payload)); }
  void on_warning(std::string words) override { setting_.warned(std::move(words)); }
  void on_broken(failure) override;

  void arrive();
  void leave(failure);
  using line = std::deque<request>;

  void send(request);
  void send_some();
  void put(request);
  line* next_line() noexcept;
  bool has_room() const noexcept;
  bool nobody_waits() const noexcept;
  void settle(request, answers);
  void too_late(request&, const std::string& words);
  void flush();
  bool is_refused() const noexcept { return state_ != state::up && absence_.kind == why::refused; }
  void turn_away();
  milliseconds let_in_patience() const noexcept;
  milliseconds silence_max() const noexcept;
  time_point silent_until() const noexcept;

  std::unique_ptr<wire> wire_;
  setting setting_;
  state state_ = state::away;
  time_point since_{};          // of the state; of away: when it ends
  time_point heard_{};          // the last answer
  std::uint32_t shut_out_ = 0;  // how often in a row it took too long
  kit::reconnect reconnect_;
  std::minstd_rand chance_;
  failure absence_;  // why it is not up
  bool said_down_ = false, said_refused_ = false;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, request> under_way_;
  std::set<std::uint64_t> hurried_;     // of these those with less patience
  std::array<line, 3> waiting_;         // by urgency
  std::uint32_t passed_over_ = 0;       // how often in a row something else went before a look
  line again_;                          // with a time before which they are not sent again
  time_point due_ = time_point::max();  // something that waits has to be looked at, or earlier
};

}  // namespace tyer::sql
