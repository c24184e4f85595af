// Transfers between two accounts, in all directions at once: 4 processes with 4 threads, 4 accounts.
//
//   transfer REDIS [SECONDS]     without a lock, with a lock for each account, and with multi_mutex
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/fence.hpp>
#include <tyer/tyer.hpp>

#include <functional>
#include <iostream>
#include <random>

using namespace std::chrono_literals;

namespace {

constexpr int processes = 4, threads = 4, accounts = 4, each = 1000;

struct figures {
  std::atomic<int> transfers, given_up;
};

class bank {
 public:
  bank(const std::string& uri, const std::string& name) : redis_(uri), name_(name) {}

  std::string account(int n) const { return name_ + "/" + std::to_string(n); }
  void fill() {
    for (int i = 0; i < accounts; ++i) redis_.ask({"SET", account(i), std::to_string(each)});
  }
  int sum() {
    int all = 0;
    for (int i = 0; i < accounts; ++i) all += std::stoi(redis_.ask({"GET", account(i)}).text);
    return all;
  }

  // Reads both, thinks, writes both.
  void move(const std::string& from, const std::string& to) {
    const auto read = redis_.ask({"MGET", from, to}).items;
    std::this_thread::sleep_for(2ms);
    redis_.ask({"MSET", from, std::to_string(std::stoi(read[0]) - 1), to, std::to_string(std::stoi(read[1]) + 1)});
  }
  // The same, and refused if a later holder of either was here.
  bool move(const std::string& from, const std::string& to, const tyer::fence_pass& a, const tyer::fence_pass& b) {
    const auto read = fenced(from, to, a, b, "return redis.call('MGET', KEYS[3], KEYS[4])", {});
    if (read.empty()) return false;
    std::this_thread::sleep_for(2ms);
    const std::vector<std::string> after{std::to_string(std::stoi(read[0]) - 1),
                                         std::to_string(std::stoi(read[1]) + 1)};
    return !fenced(from, to, a, b, "redis.call('MSET', KEYS[3], ARGV[7], KEYS[4], ARGV[8]) return {'1'}", after)
                .empty();
  }

 private:
  std::vector<std::string> fenced(const std::string& from, const std::string& to, const tyer::fence_pass& a,
                                  const tyer::fence_pass& b, const char* script, const std::vector<std::string>& more) {
    std::vector<std::string> arguments;
    for (const auto& pass : {a, b}) {
      for (const auto& word : tyer::redis_fence_arguments(pass)) arguments.push_back(word);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return redis_.eval(std::string{tyer::redis_fence_function} +
                           "if not tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return {} end\n"
                           "if not tyer_fence(KEYS[2], ARGV[4], ARGV[5], ARGV[6]) then return {} end\n" +
                           script,
                       {from + ":fence", to + ":fence", from, to}, arguments);
  }

  stories::redis redis_;
  std::string name_;
};

using transfer = std::function<bool(tyer::client&, bank&, const std::string&, const std::string&)>;

bool without(tyer::client&, bank& b, const std::string& from, const std::string& to) {
  b.move(from, to);
  return true;
}

// [named_order]
bool named_order(tyer::client& client, bank& b, const std::string& from, const std::string& to) {
  tyer::mutex first{client, from}, second{client, to};
  tyer::hold one = first.try_acquire_for(1s);
  if (!one) return false;
  tyer::hold two = second.try_acquire_for(1s);  // another one has it, and waits for mine
  return two && b.move(from, to, one.fence(), two.fence());
}
// [named_order]

// [multi]
bool multi(tyer::client& client, bank& b, const std::string& from, const std::string& to) {
  tyer::multi_mutex both{client, {from, to}};
  tyer::multi_hold h = both.acquire();
  return b.move(from, to, h.fence(from), h.fence(to));
}
// [multi]

// True if no money was made or lost, and nobody had to give up.
bool run(const std::string& uri, const std::string& name, std::chrono::seconds how_long, const transfer& move) {
  auto& f = stories::in_shared_memory<figures>();
  bank opened{uri, name};
  opened.fill();
  stories::in_processes(processes, [&](int) {
    tyer::client client{uri};
    stories::in_threads(threads, [&](int) {
      bank b{uri, name};
      std::mt19937 random{std::random_device{}()};
      for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;) {
        const int from = static_cast<int>(random() % accounts),
                  to = (from + 1 + static_cast<int>(random() % (accounts - 1))) % accounts;
        ++(move(client, b, b.account(from), b.account(to)) ? f.transfers : f.given_up);
      }
    });
  });
  const int off = opened.sum() - accounts * each;
  std::cout << name << " transfers_per_s=" << f.transfers / how_long.count() << " given_up=" << f.given_up
            << " money_off=" << off << std::endl;
  return off == 0 && f.given_up == 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string uri = argc > 1 ? argv[1] : "redis://127.0.0.1:6379";
  const std::chrono::seconds how_long{argc > 2 ? std::stoi(argv[2]) : 5};
  run(uri, "without", how_long, without);
  run(uri, "named_order", how_long, named_order);
  const bool right = run(uri, "multi", how_long, multi);
  return right ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
