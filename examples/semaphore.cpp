// At most three at a time, over all processes and machines.
//
//   semaphore redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};

  // [semaphore]
  tyer::semaphore farm{client, "render-farm", 3, {.ttl = 10s}};  // everybody must say the same number

  tyer::hold one = farm.acquire();  // waits for its turn, first come, first served
  std::cout << "rendering in slot " << one.slot() << '\n';

  if (tyer::hold two = farm.permits(2).try_acquire()) {  // two at once, or none
    std::cout << "and in " << two.slot_numbers()[0] << " and " << two.slot_numbers()[1] << '\n';
    if (tyer::hold more = farm.try_acquire(); !more) std::cout << "no more is free\n";
  }  // given back, with the hold and only with it. Those of a process that dies come back after its ttl.
  // [semaphore]
}
