// recipes_child URI NAME KIND TTL_MS WAITER_TTL_MS LOCK_DELAY_MS PERIOD_S FOLDER
//
// Uses a recipe with a store in FOLDER; says "inside" in the callback and stays there until a line comes on its standard input. Says
// "got VALUE" when the recipe has returned. Made to be killed or stopped inside.
//
// KIND: single_flight | once_per | shared_value | striped | cached_read | cached_write
#include "contract/recipes/file_store.hpp"

#include <tyer/recipes.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

using namespace std::chrono_literals;
using tyer::hold;

void say(const std::string& line) { std::cout << line << std::endl; }

// False: nobody is there any more who could say a word.
void stay_inside() {
  say("inside");
  std::string word;
  if (!std::getline(std::cin, word)) std::_Exit(1);
}

struct order {
  std::string uri, name, kind;
  tyer::lock_options lock;
  std::chrono::seconds period;
  std::filesystem::path folder;
};

std::string use(const order& o, const tyer::client& client) {
  const auto store = std::make_shared<contract::file_store>(o.folder);
  const tyer::recipes::compute make = [](const hold&) {
    stay_inside();
    return tyer::recipes::fresh{"child's", 10min};
  };
  const tyer::recipes::once_per once{o.uri, o.name, o.period};
  if (o.kind == "single_flight")
    return tyer::recipes::single_flight{client, o.name, store, {.lock = o.lock}}.get("k", make);
  if (o.kind == "shared_value") return tyer::recipes::shared_value{client, once, store, {.lock = o.lock}}.get(make);
  if (o.kind == "once_per") return once.run(stay_inside) ? "run" : "nothing";
  if (o.kind == "striped") {
    const auto at = tyer::recipes::striped{client, o.name, 2, o.lock}.take([](std::size_t, const hold&) {
      stay_inside();
      return true;
    });
    return std::to_string(*at);
  }
  const tyer::recipes::cached cache{client, o.name, store, {.lock = o.lock}};
  if (o.kind == "cached_read") return cache.read("k", make);
  cache.write("k", [](const hold&) { stay_inside(); });
  return "written";
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 9) return 2;
  using std::chrono::milliseconds;
  const order o{argv[1],
                argv[2],
                argv[3],
                {.ttl = milliseconds{std::atoi(argv[4])}, .waiter_ttl = milliseconds{std::atoi(argv[5])}},
                std::chrono::seconds{std::atoi(argv[7])},
                argv[8]};
  try {
    const tyer::client client{o.uri};
    say("got " + use(o, client));
    return 0;
  } catch (const std::exception& e) {
    say(std::string{"failed: "} + e.what());
    return 1;
  }
}
