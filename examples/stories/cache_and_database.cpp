// A cache beside a database: 3 processes with 4 readers each, and one that changes the price ten times a second. One of 20 readers is
// slow between database and cache, as a pause makes it.
//
//   cache_and_database REDIS POSTGRES [SECONDS]     deleting once, deleting twice, and with `cached`
#include "postgres.hpp"
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/recipes.hpp>
#include <tyer/sql_fence.hpp>

#include <array>
#include <functional>
#include <iostream>
#include <random>

using namespace std::chrono_literals;

namespace {

constexpr int processes = 3, threads = 4;
constexpr auto lives_for = 2000ms, second_delete_after = 100ms, pause = 300ms;

struct figures {
  std::atomic<long> price;  // what the last write that has returned has written
  std::atomic<long> reads, old_ones, oldest_ms, writes;
  std::array<std::atomic<long>, 4096> returned;  // when the write of each price did
};

const tyer::sql_shared_fence fence{"max_exclusive", "max_any", "exclusive_by"};

void slow_now_and_then() {
  thread_local std::mt19937 random{std::random_device{}()};
  if (random() % 20 == 0) std::this_thread::sleep_for(pause);
}

long now_ms() { return static_cast<long>(stories::steady::now().time_since_epoch() / 1ms); }

// A read is old if a write that had returned before the read began is not in it.
void read_prices(figures& f, std::chrono::seconds how_long, const std::function<std::string()>& read) {
  for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;
       std::this_thread::sleep_for(5ms)) {
    const long at_least = f.price;
    const long got = std::stol(read());
    ++f.reads;
    if (got >= at_least) continue;
    ++f.old_ones;
    stories::raise_to(f.oldest_ms, now_ms() - f.returned.at(static_cast<std::size_t>(got) + 1));
  }
}

void write_prices(figures& f, std::chrono::seconds how_long, const std::function<void(long)>& write) {
  for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;
       std::this_thread::sleep_for(100ms)) {
    write(f.price + 1);
    f.returned.at(static_cast<std::size_t>(f.price) + 1) = now_ms();
    ++f.price;
    ++f.writes;
  }
}

struct places {
  std::string redis, postgres, article;
  std::chrono::seconds how_long;
};

// [without]
std::string read_beside(stories::redis& cache, stories::postgres& database, const std::string& article) {
  if (const auto seen = cache.ask({"GET", article}); !seen.nil) return seen.text;
  const auto price = database.ask("SELECT price FROM prices WHERE article = $1", {article}).text;
  slow_now_and_then();
  cache.ask({"SET", article, price, "PX", std::to_string(lives_for.count())});  // perhaps behind a writer's back
  return price;
}

void write_beside(stories::redis& cache, stories::postgres& database, const std::string& article, long price,
                  bool twice) {
  if (twice) cache.ask({"DEL", article});
  database.ask("UPDATE prices SET price = $1 WHERE article = $2", {std::to_string(price), article});
  if (twice) std::this_thread::sleep_for(second_delete_after);  // for readers that are under way, if they are quicker
  cache.ask({"DEL", article});
}
// [without]

void without(figures& f, const places& p, bool twice) {
  stories::in_processes(processes + 1, [&](int number) {
    if (number == processes) {
      stories::redis cache{p.redis};
      stories::postgres database{p.postgres};
      return write_prices(f, p.how_long, [&](long price) { write_beside(cache, database, p.article, price, twice); });
    }
    stories::in_threads(threads, [&](int) {
      stories::redis cache{p.redis};
      stories::postgres database{p.postgres};
      read_prices(f, p.how_long, [&] { return read_beside(cache, database, p.article); });
    });
  });
}

// [with]
tyer::recipes::fresh load(stories::postgres& database, const std::string& article, const tyer::hold& h) {
  const tyer::sql_pass shown{h.fence()};
  const auto row = database.ask(
      "UPDATE prices SET " + fence.set(shown) + " WHERE article = $1 AND " + fence.where(shown) + " RETURNING price",
      {article});
  if (row.rows == 0) throw std::runtime_error("a later one was here");
  slow_now_and_then();
  return {row.text, lives_for};
}

void change(stories::postgres& database, const std::string& article, long price, const tyer::hold& h) {
  const tyer::sql_pass shown{h.fence()};
  const auto row = database.ask(
      "UPDATE prices SET price = $1, " + fence.set(shown) + " WHERE article = $2 AND " + fence.where(shown),
      {std::to_string(price), article});
  if (row.rows == 0) throw std::runtime_error("a later one was here");
}
// [with]

void with(figures& f, const places& p) {
  stories::in_processes(processes + 1, [&](int number) {
    stories::redis cache{p.redis};
    tyer::client client{p.redis};
    const tyer::recipes::cached prices{
        client, "price",
        std::make_shared<tyer::recipes::redis_store>([&](auto&&... all) { return cache.eval(all...); }, "cache:")};
    if (number == processes) {
      stories::postgres database{p.postgres};
      return write_prices(f, p.how_long, [&](long price) {
        prices.write(p.article, [&](const tyer::hold& h) { change(database, p.article, price, h); });
      });
    }
    stories::in_threads(threads, [&](int) {
      stories::postgres database{p.postgres};
      read_prices(f, p.how_long, [&] {
        return prices.read(p.article, [&](const tyer::hold& h) { return load(database, p.article, h); });
      });
    });
  });
}

const figures& tell(const char* how, const figures& f) {
  std::cout << how << " reads=" << f.reads << " writes=" << f.writes << " old_ones=" << f.old_ones
            << " oldest_ms=" << f.oldest_ms << std::endl;
  return f;
}

figures& begin(const places& p) {
  stories::postgres{p.postgres}.ask("INSERT INTO prices (article, price) VALUES ($1, 0)", {p.article});
  return stories::in_shared_memory<figures>();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: cache_and_database REDIS POSTGRES [SECONDS]");
  places p{argv[1], argv[2], "once", std::chrono::seconds{argc > 3 ? std::stoi(argv[3]) : 10}};
  stories::postgres{p.postgres}.ask(
      "CREATE TABLE prices (article TEXT PRIMARY KEY, price BIGINT, max_exclusive BIGINT, max_any BIGINT, exclusive_by "
      "VARCHAR(34))");
  auto& once = begin(p);
  without(once, p, false);
  tell("once", once);
  p.article = "twice";
  auto& twice = begin(p);
  without(twice, p, true);
  tell("twice", twice);
  p.article = "cached";
  auto& locked = begin(p);
  with(locked, p);
  tell("cached", locked);
  return locked.old_ones == 0 && locked.writes > 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
