// contract_child URI NAME KIND TTL_MS WAITER_TTL_MS LOCK_DELAY_MS [TURNS FILE]
//
// Acquires the lock and says so; gives it back when it is told to on its standard input. Made to be killed. With TURNS it
// does so many times on its own, and counts in FILE, which others count in too, how many were inside at once.
//
// KIND: mutex | recursive_mutex | shared_mutex | shared | election | multi_mutex | multi_mutex_reversed | permits:K/N
#include "contract/api/multi_lock.hpp"

#include <tyer/tyer.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

using std::chrono::milliseconds;

void say(const std::string& line) { std::cout << line << std::endl; }

struct order {
  std::string uri, name, kind;
  tyer::lock_options options;
  int turns = 0;
  const char* file = nullptr;
};

// What a count in FILE says about everybody who counts there.
class counter {
 public:
  explicit counter(const char* file) {
    const int fd = ::open(file, O_RDWR | O_CLOEXEC);
    void* at = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || at == MAP_FAILED) throw std::runtime_error("cannot map the counter");
    ::close(fd);
    inside_ = static_cast<std::atomic<int>*>(at);
  }
  void enter(int weight) { most_ = std::max(most_, inside_->fetch_add(weight) + weight); }
  void leave(int weight) { inside_->fetch_sub(weight); }
  int most() const { return most_; }

 private:
  std::atomic<int>* inside_ = nullptr;
  int most_ = 0;
};

template <class Hold>
std::string token_of(const Hold& h) try {
  return std::to_string(h.token());
} catch (const tyer::error& e) {
  if (e.code() != tyer::errc::unsupported) throw;
  return "0";
}

// `acquire` gives something with token(), lost() and release().
template <class Acquire>
int serve(const order& o, int weight, Acquire acquire) {
  if (o.turns > 0) {
    counter all{o.file};
    for (int i = 0; i < o.turns; ++i) {
      auto h = acquire();
      all.enter(weight);
      all.leave(weight);
    }
    say("worked " + std::to_string(all.most()));
    return 0;
  }
  auto h = acquire();
  say("held " + token_of(h));
  const std::stop_callback lost{h.lost(), [] { say("lost"); }};
  std::string word;
  if (!std::getline(std::cin, word)) return 1;
  const bool released = h.release() == tyer::release_outcome::released;
  say(released ? "released" : "already gone");
  return 0;
}

// The standard face in the shape of a hold.
struct locked {
  explicit locked(tyer::recursive_mutex& l) : lock(&l) { l.lock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
  ~locked() {
    if (lock != nullptr) lock->unlock();
  }
  std::uint64_t token() const { return lock->held().token(); }
  std::stop_token lost() const { return lock->held().lost(); }
  tyer::release_outcome release() {
    const bool ours = lock->held().valid();
    lock->unlock();
    lock = nullptr;
    return ours ? tyer::release_outcome::released : tyer::release_outcome::already_gone;
  }
  tyer::recursive_mutex* lock;
};

int run(const order& o) {
  tyer::client client{o.uri};
  if (o.kind == "mutex") {
    tyer::mutex m{client, o.name, o.options};
    return serve(o, 1, [&] { return m.acquire(); });
  }
  if (o.kind == "recursive_mutex") {
    tyer::recursive_mutex m{client, o.name, o.options};
    return serve(o, 1, [&] { return locked{m}; });
  }
  if (o.kind == "shared_mutex" || o.kind == "shared") {
    tyer::shared_mutex m{client, o.name, o.options};
    return serve(o, 1, [&] { return o.kind == "shared" ? m.shared().acquire() : m.acquire(); });
  }
  if (o.kind == "election") {
    tyer::election office{client, o.name, o.options};
    return serve(o, 1, [&] { return office.campaign(); });
  }
  if (o.kind.starts_with("multi_mutex")) {
    auto names = contract::three_names(o.name);
    if (o.kind == "multi_mutex_reversed") std::reverse(names.begin(), names.end());
    tyer::multi_mutex m{client, names, o.options};
    return serve(o, 1, [&] { return contract::multi_grip{m.acquire(), o.name}; });
  }
  unsigned k = 0, n = 0;
  if (std::sscanf(o.kind.c_str(), "permits:%u/%u", &k, &n) != 2) return 2;
  tyer::semaphore s{client, o.name, n, o.options};
  return serve(o, static_cast<int>(k), [&] { return s.permits(k).acquire(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 9) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the test
  try {
    order o{argv[1], argv[2], argv[3], {}};
    o.options.ttl = milliseconds{std::atoi(argv[4])};
    o.options.waiter_ttl = milliseconds{std::atoi(argv[5])};
    o.options.lock_delay = milliseconds{std::atoi(argv[6])};
    if (argc == 9) {
      o.turns = std::atoi(argv[7]);
      o.file = argv[8];
    }
    return run(o);
  } catch (const std::exception& e) {
    say(std::string{"failed: "} + e.what());
    return 1;
  }
}
