// A connection that blocks, and says what the engine would say.
#pragma once

#include "engines/sql/exchange.hpp"

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

namespace tyer::postgres {

inline constexpr std::int64_t part_max = std::int64_t{1} << 53, places = 4;  // as the engine says them

class raw {
 public:
  raw();  // to TYER_URI, with the tables

  // Rows that were told; throws std::runtime_error.
  std::vector<std::vector<std::string>> run(const char* text, const std::vector<sql::value>& = {});

  // Begun, and perhaps waiting for another transaction.
  void begin(const char* text, const std::vector<sql::value>& = {});
  bool waits();  // for a lock, as the server says; asked by another connection
  std::vector<std::vector<std::string>> end();

  std::int64_t now();  // the server's clock

 private:
  struct closer {
    void operator()(PGconn* c) const noexcept { PQfinish(c); }
  };
  std::unique_ptr<PGconn, closer> c_;
};

}  // namespace tyer::postgres
