// Functions that lock for themselves may call each other: the thread that has the lock comes in again, and asks nobody.
//
//   recursive_mutex redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

namespace {

// [recursive]
class account {
 public:
  account(const tyer::client& client, int balance) : lock_(client, "account/7", {.ttl = 10s}), balance_(balance) {}

  void pay(int amount) {
    std::scoped_lock lock{lock_};
    balance_ -= amount;
  }
  void pay_with_fee(int amount) {
    std::scoped_lock lock{lock_};
    pay(amount);  // locks again: a count, no round trip. If the lock was lost meanwhile, this throws errc::lost.
    pay(1);
  }
  int balance() const { return balance_; }

 private:
  tyer::recursive_mutex lock_;
  int balance_;
};
// [recursive]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  account a{client, 100};
  a.pay_with_fee(20);
  std::cout << "balance " << a.balance() << '\n';
  return a.balance() == 79 ? 0 : 1;
}
