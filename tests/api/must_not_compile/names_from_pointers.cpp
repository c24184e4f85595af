// One brace too many: two literals as the begin and the end of one string.
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

void misused(tyer::client& c) {
  const tyer::multi_mutex two{c, {{"a", "b"}}};               // error: ambiguous|deleted
  const tyer::multi_mutex ttl{c, {{"a", "b"}}, {.ttl = 5s}};  // error: ambiguous|deleted
  const tyer::multi_mutex three{c, {{"a", "b", "c"}}};        // error: ambiguous|deleted
  const tyer::multi_mutex one{c, "a"};                        // error: no matching
}
