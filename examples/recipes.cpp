// What people lock for: a cache entry that is rebuilt once, readers beside a writer, a hot stock in drawers, a job that must
// not run twice.
//
//   recipes redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <array>
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

// Stands for a cache and a database that all processes use.
class store {
 public:
  std::optional<std::string> find(const std::string& key) const {
    std::lock_guard guard{mutex_};
    const auto at = rows_.find(key);
    return at == rows_.end() ? std::nullopt : std::optional{at->second};
  }
  void put(const std::string& key, std::string value) {
    std::lock_guard guard{mutex_};
    rows_[key] = std::move(value);
  }
  void erase(const std::string& key) {
    std::lock_guard guard{mutex_};
    rows_.erase(key);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> rows_;
};

store cache, database;
std::atomic<int> slow_queries = 0;

std::string query(const std::string& key) {
  ++slow_queries;
  return database.find(key).value_or("nothing");
}

// [rebuild]
// A hot key that has run out: one rebuilds it, the others wait and find it done.
std::string cached(const tyer::client& client, const std::string& key) {
  if (auto found = cache.find(key)) return *found;
  tyer::mutex rebuild{client, "rebuild/" + key, {.ttl = 5s}};
  tyer::hold h = rebuild.acquire();
  if (auto found = cache.find(key)) return *found;  // somebody did it while we waited
  std::string value = query(key);
  cache.put(key, value);
  return value;
}
// [rebuild]

// [consistent]
// Cache and database never tell different stories: readers beside each other, a writer alone.
void change(const tyer::client& client, const std::string& key, const std::string& value) {
  tyer::shared_mutex row{client, "row/" + key};
  tyer::hold h = row.acquire();
  database.put(key, value);
  cache.erase(key);
}
std::string read(const tyer::client& client, const std::string& key) {
  tyer::shared_mutex row{client, "row/" + key};
  tyer::hold h = row.shared().acquire();
  return cached(client, key);
}
// [consistent]

// [drawers]
// One lock over a hot stock lets one sale in at a time. Five drawers with a lock each let in five.
class stock {
 public:
  stock(const tyer::client& client, int tickets) {
    for (std::size_t i = 0; i < drawers_.size(); ++i) {
      locks_[i].emplace(client, "stock/" + std::to_string(i));
      drawers_[i] = tickets / static_cast<int>(drawers_.size());
    }
  }
  bool sell(std::size_t buyer) {
    for (std::size_t i = 0; i < drawers_.size(); ++i) {  // its own drawer first, then the others
      const std::size_t at = (buyer + i) % drawers_.size();
      tyer::hold h = locks_[at]->acquire();
      if (drawers_[at] == 0) continue;
      --drawers_[at];  // in real life: with h.fence(), see fencing
      return true;
    }
    return false;
  }

 private:
  std::array<std::optional<tyer::mutex>, 5> locks_;
  std::array<int, 5> drawers_{};
};
// [drawers]

// [once]
// Started everywhere by cron, run by one: the lock stays taken, also when the job is done in a second. Not for the whole hour,
// since cron is not exact.
bool hourly(const tyer::client& client) {
  tyer::mutex turn{client, "hourly", {.min_hold = 50min}};
  tyer::hold h = turn.try_acquire();
  if (!h) return false;  // somebody has done it, or is at it
  std::cout << "backing up\n";
  return true;
}
// [once]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};

  change(client, "shoe", "199");
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 8; ++i) readers.emplace_back([&] { read(client, "shoe"); });
  }
  std::cout << "eight readers, " << slow_queries << " query\n";
  change(client, "shoe", "179");
  const bool consistent = slow_queries == 1 && read(client, "shoe") == "179";

  stock tickets{client, 20};
  std::atomic<int> sold = 0;
  {
    std::vector<std::jthread> buyers;
    for (std::size_t i = 0; i < 24; ++i) {
      buyers.emplace_back([&, i] {
        if (tickets.sell(i)) ++sold;
      });
    }
  }
  std::cout << sold << " tickets sold to 24 buyers\n";

  const bool first = hourly(client), second = hourly(client);
  return consistent && sold == 20 && first && !second ? 0 : 1;
}
