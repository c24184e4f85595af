// A job that is started on every machine and run on one; and an access token that all use and one has fetched.
//
//   once_per redis://127.0.0.1:6379
#include <tyer/recipes.hpp>

#include <atomic>
#include <future>
#include <iostream>
#include <random>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::atomic<int> backups = 0, fetches = 0;

void back_up() { ++backups; }
std::string fetch_token() { return "token " + std::to_string(++fetches); }

}  // namespace

int main(int argc, char** argv) try {
  const std::string uri = argc > 1 ? argv[1] : "memory://example";
  tyer::client client{uri};
  const auto run = "/" + std::to_string(std::random_device{}());  // so that the example can be run again at once

  // [job]
  // Started by cron on every machine; a little less than an hour, since cron is not exact.
  tyer::recipes::once_per hourly{uri, "backup" + run, 50min};
  const bool ran = hourly.run(back_up);
  // [job]
  const bool again = hourly.run(back_up);

  // [token]
  auto cache = std::make_shared<tyer::recipes::memory_store>();  // yours, which all machines see
  // The other side wants at most one request in 5 s; a token is good for two hours, and used until a minute before that.
  tyer::recipes::shared_value token{client, {uri, "token" + run, 5s}, cache, {.ends_before = 1min}};

  const auto get = [&] {
    return token.get([&](const tyer::hold&) { return tyer::recipes::fresh{fetch_token(), 2h}; });
  };
  // [token]
  std::vector<std::future<std::string>> senders;
  for (int i = 0; i < 8; ++i) senders.push_back(std::async(std::launch::async, get));
  bool same = true;
  for (auto& s : senders) same = s.get() == "token 1" && same;
  std::cout << backups << " backup, " << fetches << " token\n";
  return ran && !again && backups == 1 && same && fetches == 1 ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
