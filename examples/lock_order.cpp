// Two locks that are taken in two orders: told before it becomes a deadlock.
//
//   lock_order redis://127.0.0.1:6379
#include <tyer/debug.hpp>
#include <tyer/tyer.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>

namespace {

// [transfer]
void transfer(const tyer::client& client, const std::string& from, const std::string& to) {
  const tyer::hold first = tyer::mutex{client, "account/" + from}.acquire();
  const tyer::hold second = tyer::mutex{client, "account/" + to}.acquire();  // a multi_mutex has one order
}
// [transfer]

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  // [order]
  const auto order = std::make_shared<tyer::debug::order>(tyer::debug::order_options{
      .class_of = [](std::string_view name) { return std::string{name.substr(0, name.find('/'))}; },
      .on_reversed = [](const tyer::debug::order_report& r) { std::clog << r.text << '\n'; },
  });
  const tyer::client client{uri, {.refuse_own_wait = true, .order = order}};
  // [order]
  transfer(client, "ann", "bob");
  transfer(client, "bob", "ann");  // one after the other: nothing hangs, and it is told all the same

  // [own]
  const tyer::mutex account{client, "account/ann"};
  const tyer::hold mine = account.acquire();
  tyer::failure why;
  const tyer::hold again = account.acquire(why);  // errc::would_deadlock, and both call sites
  // [own]
  std::clog << why.message() << '\n';

  // [processes]
  tyer::debug::order all;             // anywhere, later: what each process has saved
  all.load(order->save(), "shop-7");  // in a file, say
  all.load(order->save(), "office-1");
  const bool one_order = all.reports().empty();
  // [processes]
  return order->reports().size() == 1 && !one_order && why == tyer::errc::would_deadlock && !again ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
