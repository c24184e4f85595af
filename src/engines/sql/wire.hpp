// One connection to a database: the seam between what is decided (link.hpp) and a client library.
//
// Thread safety: none. Everything is told inside the engine's run().
#pragma once

#include "engines/sql/exchange.hpp"

#include <cstdint>
#include <string>

namespace tyer::sql {

class wire {
 public:
  class user {
   public:
    virtual void on_open() = 0;  // connected: an exchange may be sent
    virtual void on_answers(std::uint64_t number, answers) = 0;
    virtual void on_notice(std::string payload) = 0;  // somebody rang
    virtual void on_warning(std::string) {}           // of the server, for people
    virtual void on_broken(failure) = 0;  // it is over, and so is whatever was under way; may be opened again

   protected:
    ~user() = default;
  };

  virtual ~wire() = default;
  virtual void open(user&) = 0;
  virtual void send(std::uint64_t number, exchange) = 0;
  // Once it is open. Else a pooler is in between: what is set or listened to is another client's by the next statement.
  virtual bool keeps_session() const noexcept { return true; }
  virtual void shut() noexcept = 0;  // nobody is told anything any more
};

// What a server says, without the user's name, which it puts between such quotes.
inline std::string without_user(std::string words, const std::string& user, char quote) {
  const auto name = quote + user + quote;
  for (auto at = words.find(name); !user.empty() && at != words.npos; at = words.find(name))
    words.replace(at, name.size(), "…");
  return words;
}

}  // namespace tyer::sql
