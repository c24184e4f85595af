#include "redis/suite.hpp"

#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

long resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  long total = 0, resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

int threads() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word == "Threads:") {
      int n = 0;
      status >> n;
      return n;
    }
  }
  return 0;
}

}  // namespace

// Waiters on one name that another client has. All of them wait in the process; one stands for them at the engine.
waiting measure_waiting(const std::string& uri) {
  tyer::client other{uri};
  tyer::mutex taken{other, "bench/taken"};
  const tyer::hold h = taken.acquire();
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  tyer::mutex m{client, "bench/taken"};
  boost::asio::io_context loop{1};
  int waiting_now = 0;
  const auto wait_more = [&](int up_to) {
    for (; waiting_now < up_to; ++waiting_now) {
      tyer::async_acquire(m, boost::asio::bind_executor(loop, [](tyer::failure, tyer::hold) {}));
    }
    if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
    std::this_thread::sleep_for(300ms);  // the inbox has been emptied long before
  };
  wait_more(1);
  waiting w{};
  w.threads_one = threads();
  wait_more(10000);
  const auto at_10000 = resident_bytes();
  wait_more(20000);
  w.threads_all = threads();
  w.bytes_per_waiter = static_cast<double>(resident_bytes() - at_10000) / 10000;
  client.close();
  return w;
}

}  // namespace bench
