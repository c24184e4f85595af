// An access token that all need: 20 processes send messages with it. To fetch one makes the one before worthless, as with
// WeChat's, and a token is good for 4 s here (two hours there).
//
//   access_token REDIS [SECONDS]     prints what came of it, without and with shared_value
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/recipes.hpp>

#include <functional>
#include <iostream>

using namespace std::chrono_literals;

namespace {

constexpr int processes = 20;
constexpr auto good_for = 4000ms, ends_before = 2000ms;

struct figures {
  std::atomic<int> fetches, sent, refused;
};

// The other side: whoever fetches gets a new token, and only the last one is taken.
class platform {
 public:
  platform(const std::string& uri, std::string name) : server_(uri), key_(std::move(name)) {}

  std::string fetch(figures& f) {
    ++f.fetches;
    const auto token = std::to_string(server_.ask({"INCR", key_ + ":count"}).number);
    server_.ask({"SET", key_, token, "PX", std::to_string(good_for.count())});
    std::this_thread::sleep_for(100ms);  // the way back
    return token;
  }
  bool send(const std::string& token) { return server_.ask({"GET", key_}).text == token; }

 private:
  stories::redis server_;
  std::string key_;
};

void send_messages(figures& f, platform& p, std::chrono::seconds how_long, const std::function<std::string()>& token) {
  for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;) {
    if (p.send(token())) {
      ++f.sent;
    } else {
      ++f.refused;
    }
    std::this_thread::sleep_for(50ms);
  }
}

void without(figures& f, const std::string& uri, std::chrono::seconds how_long) {
  stories::in_processes(processes, [&](int) {
    platform p{uri, "own"};
    std::string mine;
    auto until = stories::steady::now();
    send_messages(f, p, how_long, [&] {
      // [without]
      if (stories::steady::now() >= until) {  // each process has its own, and takes it for good
        mine = p.fetch(f);
        until = stories::steady::now() + good_for - ends_before;
      }
      return mine;
      // [without]
    });
  });
}

void with(figures& f, const std::string& uri, std::chrono::seconds how_long) {
  stories::in_processes(processes, [&](int) {
    platform p{uri, "shared"};
    stories::redis cache{uri};
    tyer::client client{uri};
    const auto store =
        std::make_shared<tyer::recipes::redis_store>([&](auto&&... all) { return cache.eval(all...); }, "token:");
    // [with]
    tyer::recipes::shared_value token{client, {uri, "token", 1s}, store, {.ends_before = ends_before}};
    send_messages(f, p, how_long, [&] {
      return token.get([&](const tyer::hold&) {
        const auto asked = stories::steady::now();  // it lives from then on, not from when the answer has come
        auto fetched = p.fetch(f);
        return tyer::recipes::fresh{std::move(fetched), good_for - std::chrono::milliseconds{stories::ms_since(asked)}};
      });
    });
    // [with]
  });
}

void tell(const char* how, const figures& f) {
  std::cout << how << " fetches=" << f.fetches << " sent=" << f.sent << " refused=" << f.refused << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string uri = argc > 1 ? argv[1] : "redis://127.0.0.1:6379";
  const std::chrono::seconds how_long{argc > 2 ? std::stoi(argv[2]) : 10};
  auto &bare = stories::in_shared_memory<figures>(), &shared = stories::in_shared_memory<figures>();
  without(bare, uri, how_long);
  tell("without", bare);
  with(shared, uri, how_long);
  tell("with", shared);
  // One for each time that a token is used, and one more.
  const auto fetches_max = how_long / (good_for - ends_before) + 2;
  return bare.refused > 0 && shared.refused == 0 && shared.fetches <= fetches_max ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
