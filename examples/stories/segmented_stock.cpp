// A stock that everybody wants, in 1, 4 and 16 parts: 4 processes with 16 threads, and a sale that takes 5 ms.
//
//   segmented_stock LOCKS SHOP [TICKETS]     the locks on any engine, best redis+cluster://; the shop is a redis://
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/fence.hpp>
#include <tyer/recipes.hpp>

#include <iostream>

using namespace std::chrono_literals;

namespace {

constexpr int processes = 4, threads = 16;

struct figures {
  std::atomic<int> sold;
  std::atomic<long> last_ms;  // when the last ticket was sold; after that all only look whether a part has any
};

// Rows with a fence each: here in Redis.
class shop {
 public:
  shop(const std::string& uri, const std::string& name) : redis_(uri), name_(name) {}

  void fill(int part, int tickets) { redis_.ask({"SET", row(part), std::to_string(tickets)}); }
  int left(int part) { return std::stoi(redis_.ask({"GET", row(part)}).text); }

  // Read, think, write: what one stock would do once at a time. False: nothing is left of this part.
  bool sell(int part, const tyer::hold& h) {
    const auto seen = fenced(part, h, "return {redis.call('GET', KEYS[2])}");
    if (seen.empty() || std::stoi(seen[0]) <= 0) return false;
    std::this_thread::sleep_for(5ms);
    return !fenced(part, h, "redis.call('SET', KEYS[2], ARGV[4]) return {'1'}", std::to_string(std::stoi(seen[0]) - 1))
                .empty();
  }
  bool sell_without_lock(int part) {
    const int seen = left(part);
    if (seen <= 0) return false;
    std::this_thread::sleep_for(5ms);
    fill(part, seen - 1);
    return true;
  }

 private:
  std::string row(int part) const { return name_ + ":" + std::to_string(part); }

  // Nothing: a later holder was here.
  std::vector<std::string> fenced(int part, const tyer::hold& h, const char* script, const std::string& value = {}) {
    const auto pass = tyer::redis_fence_arguments(h.fence());
    return redis_.eval(std::string{tyer::redis_fence_function} +
                           "if not tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return {} end " + script,
                       {row(part) + ":fence", row(part)}, {pass[0], pass[1], pass[2], value});
  }

  stories::redis redis_;
  std::string name_;
};

// Gives the tickets that are left over.
int sell_all(figures& f, const std::string& locks, const std::string& shop_uri, int all, int parts, bool locked) {
  const auto begun = stories::steady::now();
  const std::string name = (locked ? "stock" : "bare") + std::to_string(parts);
  shop filled{shop_uri, name};
  for (int i = 0; i < parts; ++i) filled.fill(i, all / parts + (i < all % parts ? 1 : 0));
  stories::in_processes(processes, [&](int) {
    tyer::client client{locked ? locks : "memory://"};
    // [with]
    tyer::recipes::striped stock{client, name, static_cast<std::size_t>(parts)};
    stories::in_threads(threads, [&](int) {
      shop tickets{shop_uri, name};
      const auto sale = [&] {
        if (!locked) return tickets.sell_without_lock(0);
        return stock
            .take([&](std::size_t part, const tyer::hold& h) { return tickets.sell(static_cast<int>(part), h); })
            .has_value();
      };
      while (sale()) {  // nothing: every part was empty
        ++f.sold;
        stories::raise_to(f.last_ms, stories::ms_since(begun));
      }
    });
    // [with]
  });
  int left = 0;
  for (int i = 0; i < parts; ++i) left += filled.left(i);
  return left;
}

// True if exactly what there was has been sold.
bool tell(const std::string& how, const std::string& locks, const std::string& shop_uri, int tickets, int parts,
          bool locked) {
  auto& f = stories::in_shared_memory<figures>();
  const int left = sell_all(f, locks, shop_uri, tickets, parts, locked);
  std::cout << how << " sold_per_s=" << f.sold * 1000L / std::max<long>(f.last_ms, 1)
            << " oversold=" << f.sold + left - tickets << " left_over=" << left << std::endl;
  return f.sold == tickets && left == 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: segmented_stock LOCKS SHOP [TICKETS]");
  const int tickets = argc > 3 ? std::stoi(argv[3]) : 2000;
  const bool bare = tell("without", argv[1], argv[2], tickets, 1, false);
  bool exact = true;
  for (const int parts : {1, 4, 16}) {
    exact = tell("parts_" + std::to_string(parts), argv[1], argv[2], tickets, parts, true) && exact;
  }
  return !bare && exact ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
