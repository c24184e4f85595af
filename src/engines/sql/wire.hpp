// One connection to a database: the seam between what is decided (link.hpp) and a client library.
//
// Thread safety: none. Everything is told inside the engine's run().
#pragma once

#include "engines/sql/exchange.hpp"

#include <cstdint>

namespace tyer::sql {

class wire {
 public:
  class user {
   public:
    virtual void on_open() = 0;  // connected: an exchange may be sent
    virtual void on_answers(std::uint64_t number, answers) = 0;
    virtual void on_notice(std::string payload) = 0;  // somebody rang
    virtual void on_broken(failure) = 0;  // it is over, and so is whatever was under way; may be opened again

   protected:
    ~user() = default;
  };

  virtual ~wire() = default;
  virtual void open(user&) = 0;
  virtual void send(std::uint64_t number, exchange) = 0;
  virtual void shut() noexcept = 0;  // nobody is told anything any more
};

}  // namespace tyer::sql
