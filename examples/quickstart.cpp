// The five lines of the README. Run it twice at once: the second one waits for the first.
//
//   quickstart redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* uri = argc > 1 ? argv[1] : "memory://";

  // [quickstart]
  tyer::client client{uri};
  tyer::mutex order{client, "order/42", {.ttl = 10s}};

  {
    std::scoped_lock lock{order};  // works with every standard guard
    std::cout << "mine, with token " << order.held().token() << '\n';
  }

  if (tyer::hold h = order.try_acquire_for(200ms)) {  // the full answer
    std::cout << "mine again, for " << h.remaining() / 1ms << " ms without hearing from the engine\n";
  } else {
    std::cout << "somebody else has it\n";  // an engine that is away throws
  }
  // [quickstart]
}
