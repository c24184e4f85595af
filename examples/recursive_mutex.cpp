// Functions that lock for themselves may call each other: the thread that has the lock comes in again, and asks nobody.
//
//   recursive_mutex redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

namespace {

// [recursive]
// Every function locks for itself, with an object of its own: the name is what counts.
void pay(const tyer::client& client, int& balance, int amount) {
  tyer::recursive_mutex lock{client, "account/7"};
  std::scoped_lock in{lock};
  balance -= amount;
}

void pay_with_fee(const tyer::client& client, int& balance, int amount) {
  tyer::recursive_mutex lock{client, "account/7"};
  std::scoped_lock in{lock};
  // Each locks again: a count, no round trip. If the lock was lost meanwhile, it throws errc::lost.
  pay(client, balance, amount);
  pay(client, balance, 1);
}
// [recursive]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  int balance = 100;
  pay_with_fee(client, balance, 20);
  std::cout << "balance " << balance << '\n';
  return balance == 79 ? 0 : 1;
}
