// Removes what nobody has used for a day. One client of all has the turn, every ten minutes, and asks for a thousand names at a time:
// what a client says comes behind what it has said, and a look through a large table would keep its renewals waiting.
//
//   idle      | its time has come, and it is up        | asking
//   asking    | it has the turn; not                   | sweeping; idle
//   sweeping  | the last name was seen; an error       | idle
//
// Thread safety: none. No clock: time comes in.
#pragma once

#include "engines/sql/dialect.hpp"
#include "engines/sql/link.hpp"

#include <functional>
#include <string>

namespace tyer::sql {

class sweeper {
 public:
  struct setting {
    milliseconds patience;  // with one request
    std::function<time_point()> now;
    std::function<bool()> closed;
    std::function<void(const std::string& name)> found;  // whose queue and holders nobody has looked at
  };
  sweeper(link& l, const dialect& says, setting s) : link_(l), says_(says), setting_(std::move(s)) {}

  void on_up(time_point now);
  time_point due() const noexcept { return due_; }
  void on_time(time_point now);

 private:
  using done = core::function<void(const answers&)>;
  void ask(exchange, done);
  void sweep(const std::string& from);

  link& link_;
  const dialect& says_;
  const setting setting_;
  time_point due_ = time_point::max();
};

}  // namespace tyer::sql
