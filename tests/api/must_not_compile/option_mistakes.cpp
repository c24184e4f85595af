// A mistake in the options is told in one line that names it, where the options have their name.
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

const tyer::lock_options too_fine{.ttl = 1.5s};  // error: (could not convert|no viable conversion).*duration
const tyer::lock_options mistyped{.tll = 2s};    // error: tll
const tyer::client_options unknown{.ttl = 2s};   // error: ttl

void misused(tyer::client& c) {
  const tyer::mutex m{c, "order/42", {.ttl = 1.5s}};  // error: no matching (function|constructor)
}
