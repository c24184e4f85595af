// The first lines of the README.
//
//   readme redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;

namespace {

struct database {  // checks the token, as yours should
  bool write(const std::string& row, const tyer::fence_pass& shown) {
    std::cout << row << " under token " << shown.token << '\n';
    return gate.enter(shown);
  }
  tyer::fence_gate gate;
};

}  // namespace

int main(int argc, char** argv) {
  const char* uri = argc > 1 ? argv[1] : "memory://";
  const std::string row = "order 42";
  database db;

  // [readme]
  tyer::client client{uri};  // "redis://127.0.0.1:6379"
  tyer::mutex order{client, "order/42", {.ttl = 10s}};

  {
    std::scoped_lock lock{order};  // works with every std guard
    db.write(row, order.held().fence());
  }

  if (tyer::hold h = order.try_acquire_for(200ms)) {  // the full answer
    std::stop_callback stop{h.lost(), [] { /* stop writing */ }};
    db.write(row, h.fence());
  }  // released in the background
  // [readme]
}
