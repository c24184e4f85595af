// The C++ side of the interop tests: locks with Tyer, as anybody would, and does what it is told.
//
//   interop_peer URI TTL_MS                      commands on standard input, one answer per command
//   interop_peer URI TTL_MS HISTORY NAME...      contends for the names until it is killed
//
// A command is `THREAD VERB NAME [NUMBER]`, the answer `THREAD RESULT NANOSECONDS` (CLOCK_MONOTONIC). Each THREAD is one, with
// holds of its own. A VERB that begins with read- is of the readers' side of a shared_mutex. The other sides are redisson/Peer.java,
// etcd_go/peer.go, curator/Peer.java, kazoo/peer.py and zk_go/peer.go.
#include <tyer/tyer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int contending_threads = 2;
constexpr int longest_stay_us = 4000;

long long now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// Until when it was certainly ours: now, or when its window ended, on the same clock.
long long left_ns(const tyer::hold& h) {
  const auto over_for = tyer::lease_clock::now() - h.valid_until();
  return now_ns() - std::max<long long>(0, std::chrono::nanoseconds{over_for}.count());
}

void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard guard{mutex};
  std::cout << line << std::endl;
}

struct command {
  std::string verb, name;
  long long number = 0;
};

// What one thread is told, in order.
class thread_of_commands {
 public:
  thread_of_commands(std::string label, const tyer::client& c, milliseconds ttl)
      : label_(std::move(label)), client_(c), ttl_(ttl), thread_([this](const std::stop_token& stop) { work(stop); }) {}

  void tell(command c) {
    const std::lock_guard guard{mutex_};
    told_.push_back(std::move(c));
    more_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock{mutex_};
      if (!more_.wait(lock, stop, [this] { return !told_.empty(); })) return;
      const command c = std::move(told_.front());
      told_.pop_front();
      lock.unlock();
      try {
        say(label_ + ' ' + obey(c));
      } catch (const tyer::error& e) {
        say(label_ + " failed:" + std::to_string(e.code().value()) + ' ' + std::to_string(now_ns()));
      }
    }
  }

  // Releasing takes the time before the call, everything else after it.
  std::string obey(command c) {
    const auto before = now_ns();
    const bool reads = c.verb.starts_with("read-");
    if (reads) c.verb.erase(0, 5);
    const auto at = [](const char* result, long long ns = now_ns()) { return result + (' ' + std::to_string(ns)); };
    const tyer::acquirable lock = lock_of(c.name, reads);
    tyer::hold& h = holds_[c.name];
    if (c.verb == "lock") {
      h = lock.acquire();
      return at("locked");
    }
    if (c.verb == "try") {
      h = c.number > 0 ? lock.try_acquire_for(milliseconds{c.number}) : lock.try_acquire();
      return at(h ? "locked" : "busy");
    }
    if (c.verb == "unlock") {
      return at(h.release() == tyer::release_outcome::released ? "unlocked" : "gone", before);
    }
    if (c.verb == "await_loss") {
      while (!h.lost().stop_requested()) std::this_thread::sleep_for(1ms);
      return at("lost");
    }
    return at("unknown");
  }

  tyer::acquirable lock_of(const std::string& name, bool reads) const {
    const tyer::lock_options options{.ttl = ttl_};
    if (reads) return tyer::shared_mutex{client_, name, options}.shared();
    return tyer::mutex{client_, name, options};
  }

  std::string label_;
  const tyer::client& client_;
  milliseconds ttl_;
  std::map<std::string, tyer::hold> holds_;
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::deque<command> told_;
  std::jthread thread_;  // the last: it uses the others
};

void obey(const tyer::client& client, milliseconds ttl) {
  std::map<std::string, std::unique_ptr<thread_of_commands>> threads;
  say("ready 0");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string label;
    command c;
    words >> label >> c.verb >> c.name >> c.number;
    auto& thread = threads[label];
    if (!thread) thread = std::make_unique<thread_of_commands>(label, client, ttl);
    thread->tell(std::move(c));
  }
}

// Where the engine has none, nothing.
std::string token_of(const tyer::hold& h) {
  try {
    return ' ' + std::to_string(h.token());
  } catch (const tyer::error&) {
    return {};
  }
}

// One write per line, so that a process that is killed leaves whole lines.
void note(int history, const std::string& what, std::size_t which, const std::string& me, long long ns,
          const std::string& more = {}) {
  const auto line = what + ' ' + std::to_string(which) + ' ' + me + ' ' + std::to_string(ns) + more + '\n';
  if (::write(history, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

void contend(const tyer::client& client, milliseconds ttl, int history, const std::vector<std::string>& names,
             int index) {
  const auto me = "cpp-" + std::to_string(::getpid()) + '-' + std::to_string(index);
  std::minstd_rand random{static_cast<unsigned>(now_ns())};
  for (;;) {
    const auto which = random() % names.size();
    const tyer::mutex lock{client, names[which], {.ttl = ttl}};
    tyer::hold h = lock.acquire();
    const auto entered = now_ns();
    if (!h.valid()) continue;
    note(history, "enter", which, me, entered, token_of(h));
    std::this_thread::sleep_for(std::chrono::microseconds{random() % longest_stay_us});
    note(history, "leave", which, me, left_ns(h));
    h.release();
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("interop_peer URI TTL_MS [HISTORY NAME...]\n", stderr);
    return 2;
  }
  const tyer::client client{words[1]};
  const milliseconds ttl{std::stoll(words[2])};
  if (count == 3) {
    obey(client, ttl);
    return 0;
  }
  const int history = ::open(words[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (history < 0) {
    std::perror(words[3]);
    return 1;
  }
  const std::vector<std::string> names{words + 4, words + count};
  std::vector<std::jthread> threads;
  for (int i = 0; i < contending_threads; ++i) {
    threads.emplace_back([&, i] { contend(client, ttl, history, names, i); });
  }
  say("ready 0");
}
