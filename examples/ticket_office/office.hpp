// A ticket office: sells under a lock of any engine, out of a table in PostgreSQL whose row checks the fence.
#pragma once

#include <tyer/tyer.hpp>

#include <chrono>
#include <string>

namespace ticket_office {

enum class sale { sold, sold_out, busy, refused };

inline const char* words(sale s) {
  switch (s) {
    case sale::sold: return "sold";
    case sale::sold_out: return "sold out";
    case sale::busy: return "busy, try again";
    case sale::refused: return "refused: this office was overtaken";
  }
  return "";
}

// Thread safety: everything may be called from any thread; each has a connection to the database of its own.
class office {
 public:
  office(const std::string& engine, std::string database);

  // Makes the tables, and puts so many tickets on sale. Once, before the offices open.
  static void open_sale(const std::string& database, int tickets);

  sale sell();
  std::string state();  // as JSON: what is left, who holds the lock, who waits, what was refused

 private:
  std::string database_;
  tyer::client client_;
  tyer::mutex lock_;
};

}  // namespace ticket_office
