// Two literals as the begin and the end of one string: one brace too many, or two names for a lock that has one.
#include <tyer/recipes.hpp>
#include <tyer/tyer.hpp>

#include <string>

using namespace std::chrono_literals;

void misused(tyer::client& c) {
  const tyer::multi_mutex two{c, {{"a", "b"}}};               // error: ambiguous|deleted
  const tyer::multi_mutex ttl{c, {{"a", "b"}}, {.ttl = 5s}};  // error: ambiguous|deleted
  const tyer::multi_mutex three{c, {{"a", "b", "c"}}};        // error: ambiguous|deleted
  const tyer::multi_mutex one{c, "a"};                        // error: no matching
}

void two_names(tyer::client& c) {
  const tyer::mutex m{c, {"a", "b"}};                    // error: deleted
  const tyer::mutex ttl{c, {"a", "b"}, {.ttl = 5s}};     // error: deleted
  const tyer::shared_mutex s{c, {"a", "b"}};             // error: deleted
  const tyer::recursive_mutex r{c, {"a", "b"}};          // error: deleted
  const tyer::semaphore n{c, {"a", "b"}, 3};             // error: deleted
  const tyer::election e{c, {"a", "b"}};                 // error: deleted
  const tyer::multi_mutex::part p{c, {"a", "b"}};        // error: deleted
  const tyer::recipes::striped parts{c, {"a", "b"}, 4};  // error: deleted
}

// A name may be a piece of something longer.
void one_name(tyer::client& c, const std::string& text) {
  const tyer::mutex m{c, {text.data(), 3}};
  const tyer::shared_mutex s{c, {text.begin(), text.end()}, {.ttl = 5s}};
}
