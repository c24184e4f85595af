// A transfer needs both accounts, and two transfers in opposite directions must not wait for each other.
//
//   multi_mutex redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

// [multi]
bool transfer(const tyer::client& client, const std::string& from, const std::string& to, int amount) {
  // Taken in one canonical order, whatever the order they are named in: no deadlock. All or none, within one limit.
  tyer::multi_mutex both{client, {from, to}, {.ttl = 10s}};
  tyer::multi_hold h = both.try_acquire_for(5s);
  if (!h) return false;
  std::cout << amount << " from " << from << " (token " << h.token(from) << ") to " << to << " (token " << h.token(to)
            << ")\n";
  return h.valid();  // of both: the loss of one is the loss of all
}
// [multi]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  const bool forth = transfer(client, "account/1", "account/2", 10);
  const bool back = transfer(client, "account/2", "account/1", 5);
  return forth && back ? 0 : 1;
}
