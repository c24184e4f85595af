// What can be said of a client, and what it says: options, a log hook, and who holds what.
//
//   client_options redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

namespace {

// [log]
// Called from any thread, one call at a time. It must not block, throw, nor call Tyer: a file, a queue, your own logger.
void write_log(tyer::log_level level, std::string_view words) {
  if (level < tyer::log_level::info) return;
  std::clog << (level >= tyer::log_level::warning ? "WARN tyer: " : "tyer: ") << words << '\n';
}
// [log]

// [admin]
void tell_who_has(const tyer::client& client, std::string_view name) {
  tyer::admin admin{client};
  for (const tyer::lock_entry& e : admin.show(name)) {  // the holders, then those who wait, the next one first
    std::cout << (e.waiting ? "waits: " : "holds: ") << e.owner.label << " on " << e.owner.host << ", pid "
              << e.owner.pid << ", at " << e.owner.site << ", for " << e.remaining.count() << " ms more\n";
  }
}
// [admin]

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  // [options]
  tyer::client client{uri,
                      {
                          .prefix = "shop:",            // names of ours begin with it, at the engine
                          .request_timeout = 1s,        // one request, and so a try_lock
                          .unavailable_after = 10s,     // how long lock() bears an engine that is away
                          .label = "shop/checkout-v7",  // what `tyer show` prints beside host and pid
                          .log = write_log,
                      }};
  // [options]
  tyer::mutex order{client, "order/42"};
  const tyer::hold h = order.acquire();
  tell_who_has(client, "order/42");
  return tyer::admin{client}.show("order/42").at(0).owner.label == "shop/checkout-v7" ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
