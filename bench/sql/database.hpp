// The reference: a database that is said the very statements of Tyer's engine by as little as a client can be, and what it tells of
// the run.
#pragma once

#include "common/cycles.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace bench {

class database {
 public:
  virtual ~database() = default;

  // Lock + unlock cycles per second on one connection, `deep` names at once.
  virtual double bare(int deep, milliseconds run) = 0;
  // Statements of clients so far, except those of this object that count.
  virtual std::uint64_t statements() = 0;
  virtual int connections() = 0;  // of clients, this one too
  virtual std::int64_t number(const std::string& query) = 0;
};

// At TYER's URI; the tables are there.
std::unique_ptr<database> postgres_at(const std::string& uri);  // which counts by pg_stat_statements
std::unique_ptr<database> mysql_at(const std::string& uri);

inline constexpr const char* bare_owner = "host pid 1 bench cycles.cpp:1";
inline constexpr std::int64_t bare_ttl = 10'000'000, bare_places = 4;  // as the engine says them; ttl in µs
inline std::string bare_name(std::size_t i) { return "bare/" + std::to_string(i); }

}  // namespace bench
