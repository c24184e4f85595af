// [whole]
#include <tyer/tyer.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  tyer::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
  tyer::mutex order{client, "order/42"};

  tyer::hold h = order.acquire();
  std::cout << "mine, with token " << h.token() << std::endl;
  std::this_thread::sleep_for(2s);  // the work
  return h.valid() ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
// [whole]
