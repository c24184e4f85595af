#include "common/holding.hpp"
#include "sql/suite.hpp"

#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* wanted = "bench/wanted";

class processes {
 public:
  processes(const std::string& uri, int n) {
    std::string program = "/proc/self/exe", word = "--wait", to = uri;
    char* words[] = {program.data(), word.data(), to.data(), nullptr};
    for (int i = 0; i < n; ++i) {
      pid_t pid = 0;
      if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, words, environ) != 0)
        throw std::runtime_error("a process could not be started");
      all_.push_back(pid);
    }
  }
  ~processes() {
    for (const pid_t pid : all_) ::kill(pid, SIGKILL);
    for (const pid_t pid : all_) ::waitpid(pid, nullptr, 0);
  }
  processes(const processes&) = delete;

 private:
  std::vector<pid_t> all_;
};

void ready(tyer::client& c) {
  if (!c.wait_ready()) throw std::runtime_error("the database does not answer");
}

void until_there_are(database& d, const std::string& query, std::int64_t how_many) {
  const auto patience = clock::now() + 60s;
  for (std::int64_t found = 0; (found = d.number(query)) < how_many; std::this_thread::sleep_for(20ms)) {
    if (clock::now() > patience)
      throw std::runtime_error(std::to_string(found) + " are there after a minute: " + query);
  }
}

}  // namespace

int wait_until_killed(const std::string& uri) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  tyer::client client{uri};
  tyer::mutex m{client, wanted};
  const tyer::hold h = m.acquire();
  return 0;
}

double measure_statements(const std::string& uri, database& d, milliseconds run) {
  tyer::client client{uri};
  ready(client);
  tyer::mutex m{client, "bench/statements"};
  m.acquire().release();  // its row is made
  std::this_thread::sleep_for(100ms);
  const auto before = d.statements();
  double cycles = 0;
  for (const auto end = clock::now() + run; clock::now() < end; ++cycles) m.acquire().release();
  std::this_thread::sleep_for(100ms);
  return static_cast<double>(d.statements() - before) / cycles;
}

double measure_idle_waiters(const std::string& uri, database& d, int n, milliseconds run) {
  tyer::client client{uri};
  tyer::mutex m{client, wanted};
  const tyer::hold h = m.acquire();
  const processes all{uri, n};
  until_there_are(d, "SELECT count(*) FROM tyer_wait", n);
  std::this_thread::sleep_for(10s);  // how often is asked depends on how long it has been in vain
  const auto before = d.statements();
  const auto begin = clock::now();
  std::this_thread::sleep_for(run);
  const auto counted = static_cast<double>(d.statements() - before);
  return counted / std::chrono::duration<double>(clock::now() - begin).count();
}

double measure_renewal(const std::string& uri, database& d, int holds, milliseconds ttl) {
  tyer::client client{uri, {.request_timeout = 60s}};
  ready(client);
  const holding all{client, "bench/held/", holds, ttl};
  std::this_thread::sleep_for(ttl);  // until all live by the client's session
  const auto before = d.statements();
  std::this_thread::sleep_for(ttl);  // three rounds
  const auto counted = static_cast<double>(d.statements() - before);
  all.check();
  return counted / 3;
}

int measure_connections(const std::string& uri, database& d, int names) {
  constexpr auto ttl = 30s;
  tyer::client other{uri, {.request_timeout = 60s}};
  ready(other);
  const holding theirs{other, "bench/theirs/", names, ttl};
  const int before = d.connections();
  tyer::client client{uri, {.request_timeout = 60s}};
  ready(client);
  const holding ours{client, "bench/ours/", names, ttl};
  boost::asio::io_context loop{1};
  std::deque<tyer::mutex> waits;
  for (int i = 0; i < names; ++i) {
    waits.emplace_back(client, "bench/theirs/" + std::to_string(i));
    tyer::async_acquire(waits.back(), boost::asio::bind_executor(loop, [](tyer::failure, tyer::hold) {}));
  }
  until_there_are(d, "SELECT count(*) FROM tyer_wait WHERE name >= 'tyer:bench/theirs'", names);
  return d.connections() - before;
}

}  // namespace bench
