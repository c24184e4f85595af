// An access token that all need: 20 processes send messages with it. To fetch one makes the one before worthless, as with
// WeChat's, and a token is good for 4 s here (two hours there).
//
//   access_token REDIS [SECONDS]     prints what came of it, without and with shared_value, and beside a stranger who fetches one
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/recipes.hpp>

#include <functional>
#include <iostream>
#include <tuple>

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

void send_messages(figures& f, std::chrono::seconds how_long, const std::function<bool()>& send) {
  for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;) {
    if (send()) {
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
    send_messages(f, how_long, [&] {
      // [without]
      if (stories::steady::now() >= until) {  // each process has its own, and takes it for good
        mine = p.fetch(f);
        until = stories::steady::now() + good_for - ends_before;
      }
      return p.send(mine);
      // [without]
    });
  });
}

// With a stranger, one process more fetches a token without asking anybody, half-way.
void with(figures& f, const std::string& uri, const std::string& name, std::chrono::seconds how_long, bool stranger) {
  stories::in_processes(processes + (stranger ? 1 : 0), [&](int number) {
    platform p{uri, name};
    if (number == processes) {
      std::this_thread::sleep_for(how_long / 2);
      p.fetch(f);
      return;
    }
    stories::redis cache{uri};
    tyer::client client{uri};
    const auto store = std::make_shared<tyer::recipes::redis_store>([&](auto&&... all) { return cache.eval(all...); });
    // [with]
    tyer::recipes::shared_value token{client, {uri, name, 1s}, store, {.ends_before = ends_before}};
    const auto fetch = [&](const tyer::hold&) { return tyer::recipes::fresh{p.fetch(f), good_for}; };
    send_messages(f, how_long, [&] {
      const auto mine = token.get(fetch);
      if (p.send(mine)) return true;
      std::ignore = token.replace(mine, fetch);  // for the next message: one fetches, for all who were refused
      return false;
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
  auto &bare = stories::in_shared_memory<figures>(), &shared = stories::in_shared_memory<figures>(),
       &beside = stories::in_shared_memory<figures>();
  without(bare, uri, how_long);
  tell("without", bare);
  with(shared, uri, "shared", how_long, false);
  tell("with", shared);
  with(beside, uri, "beside", how_long, true);
  tell("stranger", beside);
  // One for each time that a token is used, and one more.
  const auto fetches_max = how_long / (good_for - ends_before) + 2;
  const bool well = shared.refused == 0 && shared.fetches <= fetches_max;
  // The stranger's, and the one that replaces it.
  const bool mended = beside.refused <= 2 * processes && beside.fetches <= fetches_max + 2;
  return bare.refused > 0 && well && mended ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
