// Sells tickets out of a table in PostgreSQL without a lease, in three ways: by a statement that refuses, by a version, and under a row
// lock. Several sellers at once; no ticket is sold twice, and none is left. docs/guide/databases.md is about when which is right.
//
//   three_ways postgres://user:password@127.0.0.1:5432/shop
#include "stories/postgres.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using stories::postgres;

constexpr int sellers = 8, tickets = 400;

enum class sale { sold, again, sold_out };

// [statement]
sale by_statement(postgres& db) {
  const auto done = db.ask("UPDATE event SET seats = seats - 1 WHERE id = 42 AND seats > 0");
  return done.rows == 1 ? sale::sold : sale::sold_out;
}
// [statement]

// [version]
sale by_version(postgres& db) {
  const auto read = db.ask("SELECT version || ' ' || seats FROM event WHERE id = 42").text;
  const int version = std::stoi(read), seats = std::stoi(read.substr(read.find(' ')));
  if (seats == 0) return sale::sold_out;
  const auto done = db.ask("UPDATE event SET seats = $1, version = version + 1 WHERE id = 42 AND version = $2",
                           {std::to_string(seats - 1), std::to_string(version)});
  return done.rows == 1 ? sale::sold : sale::again;  // somebody was quicker: read again
}
// [version]

// [row]
// A transaction of one's own that waits neither for ever nor in silence. What was not committed is undone.
class transaction {
 public:
  explicit transaction(postgres& db) : db_(db) {
    db_.ask("BEGIN");
    db_.ask("SET LOCAL lock_timeout = '2s'");
    db_.ask(
        "SET LOCAL idle_in_transaction_session_timeout = '5s'");  // whoever stops in between does not stop the others
  }
  ~transaction() {
    if (open_) db_.ask("ROLLBACK");
  }
  transaction(const transaction&) = delete;
  void commit() {
    open_ = false;
    db_.ask("COMMIT");
  }

 private:
  postgres& db_;
  bool open_ = true;
};

sale by_row_lock(postgres& db) {
  transaction all{db};
  const int seats = std::stoi(db.ask("SELECT seats FROM event WHERE id = 42 FOR UPDATE").text);  // others wait here
  if (seats == 0) return sale::sold_out;
  db.ask("UPDATE event SET seats = $1 WHERE id = 42", {std::to_string(seats - 1)});
  all.commit();
  return sale::sold;
}
// [row]

struct result {
  int sold = 0, in_vain = 0;
  double seconds = 0;
};

result sell(const std::string& uri, const std::function<sale(postgres&)>& way) {
  postgres{uri}.ask("UPDATE event SET seats = $1, version = 0", {std::to_string(tickets)});
  std::atomic<int> sold{0}, in_vain{0};
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < sellers; ++i) {
      all.emplace_back([&] {
        postgres db{uri};
        for (sale s; (s = way(db)) != sale::sold_out;) ++(s == sale::sold ? sold : in_vain);
      });
    }
  }
  return {sold, in_vain, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string uri = argc > 1 ? argv[1] : "postgres://127.0.0.1:5432/shop";
  postgres db{uri};
  db.ask("CREATE TABLE IF NOT EXISTS event (id INT PRIMARY KEY, seats INT NOT NULL, version INT NOT NULL)");
  db.ask("INSERT INTO event VALUES (42, 0, 0) ON CONFLICT DO NOTHING");
  const std::pair<const char*, sale (*)(postgres&)> ways[] = {
      {"a statement that refuses", by_statement}, {"a version", by_version}, {"a row lock", by_row_lock}};
  bool right = true;
  for (const auto& [name, way] : ways) {
    const auto r = sell(uri, way);
    const int left = std::stoi(db.ask("SELECT seats FROM event").text);
    std::printf("%-25s %d sold, %d left, %d tries in vain, %.1f ms each, %d connections\n", name, r.sold, left,
                r.in_vain, r.seconds * 1e3 / tickets, sellers);
    right &= r.sold == tickets && left == 0;
  }
  return right ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
