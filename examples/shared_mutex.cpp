// Many read at a time, one writes alone, and a reader that finds something to write becomes the writer without letting go.
//
//   shared_mutex redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <map>
#include <shared_mutex>
#include <string>

using namespace std::chrono_literals;

namespace {

std::map<std::string, int> prices;  // stands for something that all processes read and write

// [upgrade]
int price_of(const std::string& what, const tyer::shared_mutex& list) {
  for (;;) {
    tyer::hold h = list.shared().acquire();  // beside other readers
    if (const auto at = prices.find(what); at != prices.end()) return at->second;
    if (list.upgrade(h)) {  // alone now, and nobody has written since we looked
      prices[what] = 42;    // h.fence() is a new one: show it to what you write to
      list.downgrade(h);    // others may read while we go on reading
      return prices.at(what);
    }
    // Another reader upgrades already, and waits for us to let go: look again when it is done.
  }
}
// [upgrade]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  tyer::shared_mutex list{client, "price-list", {.ttl = 10s}};
  std::cout << "a ticket costs " << price_of("ticket", list) << '\n';

  // [guards]
  { std::shared_lock reading{list}; }  // the standard guards, too
  { std::unique_lock writing{list}; }
  // [guards]
}
