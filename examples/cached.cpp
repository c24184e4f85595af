// A cache and a database that tell one story.
//
//   cached redis://127.0.0.1:6379
#include <tyer/fence.hpp>
#include <tyer/recipes.hpp>

#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

namespace {

// Stands for a table whose rows check tokens (sql_shared_fence).
class table {
 public:
  std::string select(const std::string& key, const tyer::fence_pass& shown) {
    std::lock_guard guard{mutex_};
    if (!marks_[key].enter(shown)) throw std::runtime_error("a later one was here");
    ++selects;
    return rows_[key];
  }
  void update(const std::string& key, std::string value, const tyer::fence_pass& shown) {
    std::lock_guard guard{mutex_};
    if (!marks_[key].enter(shown)) throw std::runtime_error("a later one was here");
    rows_[key] = std::move(value);
  }
  int selects = 0;

 private:
  std::mutex mutex_;
  std::map<std::string, tyer::fence_marks> marks_;
  std::map<std::string, std::string> rows_;
};

}  // namespace

int main(int argc, char** argv) try {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  table database;
  // [cached]
  auto cache = std::make_shared<tyer::recipes::memory_store>();  // yours, which all machines see
  tyer::recipes::cached prices{client, "price", cache};

  const auto read = [&](const std::string& article) {
    return prices.read(
        article, [&](const tyer::hold& h) { return tyer::recipes::fresh{database.select(article, h.fence()), 10min}; });
  };
  const auto change = [&](const std::string& article, const std::string& price) {
    prices.write(article, [&](const tyer::hold& h) { database.update(article, price, h.fence()); });
  };
  // [cached]
  change("shoe", "199.00");
  const bool first = read("shoe") == "199.00" && read("shoe") == "199.00" && database.selects == 1;
  change("shoe", "179.00");
  const bool second = read("shoe") == "179.00";
  std::cout << "four calls, " << database.selects << " selects\n";
  return first && second && database.selects == 2 ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
