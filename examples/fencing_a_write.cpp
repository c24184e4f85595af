// A process can be paused between "I hold the lock" and "I write". No lock service can prevent that; the thing that is
// written to can: it refuses a token that is smaller than one it has seen.
//
//   fencing_a_write redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <string>

namespace {

// [account]
// What the lock protects. Here it lives in memory; in a database the gate is a column and a WHERE clause.
class account {
 public:
  // Shows its pass first, before the read that the write depends on.
  bool deposit(int amount, const tyer::fence_pass& shown) {
    if (!gate_.enter(shown)) return false;
    const int read = balance_;
    balance_ = read + amount;
    return true;
  }
  int balance() const { return balance_; }

 private:
  tyer::fence_gate gate_;
  int balance_ = 0;
};
// [account]

}  // namespace

int main(int argc, char** argv) {
  const std::string uri = argc > 1 ? argv[1] : "memory://fencing";
  account savings;

  // [fencing]
  tyer::client slow_client{uri}, quick_client{uri};  // two machines, in real life
  tyer::mutex slow{slow_client, "account/7"}, quick{quick_client, "account/7"};

  tyer::hold old = slow.acquire();
  const auto stale = old.fence();  // the slow machine is about to write, and is paused here ...
  old.release();                   // ... for so long that its lock has run out

  tyer::hold current = quick.acquire();
  const bool quick_wrote = savings.deposit(100, current.fence());  // a larger token: accepted
  const bool slow_wrote = savings.deposit(100, stale);             // woken up, unaware: refused
  // [fencing]

  std::cout << "quick: " << (quick_wrote ? "written" : "refused") << ", slow: " << (slow_wrote ? "written" : "refused")
            << ", balance: " << savings.balance() << '\n';
  return quick_wrote && !slow_wrote && savings.balance() == 100 ? 0 : 1;
}
