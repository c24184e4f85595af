// What a client has counted: by hand, as a table, as JSON.
//
//   metrics redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

namespace {

// [losses]
void tell_of_losses(const tyer::client& client) {
  const tyer::client_stats s = client.stats();  // a copy: nobody waits for it
  for (const tyer::group_stats& g : s.groups) {
    const auto waited = g.acquire_duration[tyer::acquire_end::queued];
    std::cout << "group '" << g.name << "': " << g.holds << " held, " << g.waiters << " wait; " << waited.count()
              << " waited for others, " << g.losses[tyer::loss_reason::deadline] << " were not renewed in time\n";
  }
}
// [losses]

// [table]
void print_all(const tyer::client& client) {
  const tyer::client_stats s = client.stats();
  for (const tyer::sample& one : tyer::samples(s)) {  // all that an exporter needs is in here
    std::cout << one.of->name;
    for (std::size_t i = 0; i < one.of->labels.size(); ++i) {
      std::cout << ' ' << one.of->labels[i] << '=' << one.values[i];
    }
    if (one.durations != nullptr) {
      std::cout << ": " << one.durations->count() << " times\n";
    } else {
      std::cout << ": " << one.value << '\n';
    }
  }
}
// [table]

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  tyer::client client{uri};
  // [group]
  tyer::mutex order{client, "order/42", {.ttl = 10s, .group = "orders"}};
  // [group]
  const tyer::hold h = order.acquire();
  tell_of_losses(client);
  print_all(client);
  std::cout << tyer::to_json(client.stats()) << '\n';
  return client.stats().groups.at(1).holds == 1 ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
