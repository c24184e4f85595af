#include "office.hpp"

#include "../stories/postgres.hpp"

#include <tyer/admin.hpp>
#include <tyer/sql_fence.hpp>

#include <unistd.h>

#include <thread>
#include <utility>

using namespace std::chrono_literals;

namespace ticket_office {

namespace {

const tyer::sql_fence fence{"token", "token_by"};

stories::postgres& connection(const std::string& uri) {
  thread_local stories::postgres own{uri};
  return own;
}

// What others wrote to the engine is not ours to trust.
std::string quoted(std::string text) {
  for (char& c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return '"' + text + '"';
}

}  // namespace

office::office(const std::string& engine, std::string database)
    : database_(std::move(database)), client_(engine), lock_(client_, "ticket", {.ttl = 3s}) {}

void office::open_sale(const std::string& database, int tickets) {
  stories::postgres db{database};
  db.ask("CREATE TABLE stock (id INT PRIMARY KEY, tickets INT, token BIGINT, token_by VARCHAR(34))");
  db.ask("CREATE TABLE sales (seller INT, at TIMESTAMPTZ DEFAULT now())");
  db.ask("CREATE TABLE counters (what TEXT PRIMARY KEY, n INT)");
  db.ask("INSERT INTO counters VALUES ('busy', 0), ('refused', 0)");
  db.ask("INSERT INTO stock VALUES (1, $1)", {std::to_string(tickets)});
}

// [sell]
sale office::sell() {
  auto& db = connection(database_);
  const auto count = [&](const char* what) { db.ask("UPDATE counters SET n = n + 1 WHERE what = $1", {what}); };
  tyer::hold h = lock_.try_acquire_for(2s);
  if (!h) return count("busy"), sale::busy;

  // Shown before the read that the sale depends on.
  const tyer::sql_pass shown{h.fence()};
  const auto read =
      db.ask("UPDATE stock SET " + fence.set(shown) + " WHERE id = 1 AND " + fence.where(shown) + " RETURNING tickets");
  if (read.rows == 0) return count("refused"), sale::refused;
  const int tickets = std::stoi(read.text);
  if (tickets == 0) return sale::sold_out;
  std::this_thread::sleep_for(10ms);  // payment

  const auto written = db.ask("WITH sold AS (UPDATE stock SET tickets = $1, " + fence.set(shown) +
                                  " WHERE id = 1 AND " + fence.where(shown) +
                                  " RETURNING 1) "
                                  "INSERT INTO sales (seller) SELECT $2::int FROM sold",
                              {std::to_string(tickets - 1), std::to_string(getpid())});
  if (written.rows == 0) return count("refused"), sale::refused;  // paused for so long that another one has sold
  return sale::sold;
}
// [sell]

std::string office::state() {
  auto& db = connection(database_);
  const auto number = [&](const char* statement) { return db.ask(statement).text; };
  std::string out = "{\"left\":" + number("SELECT tickets FROM stock") +
                    ",\"sold\":" + number("SELECT count(*) FROM sales") +
                    ",\"busy\":" + number("SELECT n FROM counters WHERE what = 'busy'") +
                    ",\"refused\":" + number("SELECT n FROM counters WHERE what = 'refused'");
  std::string holders, waiters;
  tyer::failure why;
  for (const auto& e : tyer::admin{client_}.show(why, "ticket")) {
    auto& list = e.waiting ? waiters : holders;
    list += (list.empty() ? "" : ",") + std::string{"{\"pid\":"} + std::to_string(e.owner.pid) +
            ",\"at\":" + quoted(e.owner.site) + ",\"ms\":" + std::to_string(e.remaining.count()) + "}";
  }
  out += ",\"engine\":" + quoted(tyer::admin{client_}.address()) + ",\"answered_by\":" + std::to_string(getpid());
  return out + ",\"holders\":[" + holders + "],\"waiters\":[" + waiters + "]}";
}

}  // namespace ticket_office
