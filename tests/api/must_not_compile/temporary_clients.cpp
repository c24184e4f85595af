// A client ends all its locks when it ends: a lock made of one that lives no longer than the statement is never what was meant.
#include <tyer/recipes.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

tyer::client made();
const tyer::client made_const();

void misused(tyer::testing::engine& engine, tyer::client& c) {
  const tyer::mutex one{tyer::client{"redis://localhost"}, "x"};              // error: deleted
  const tyer::mutex two{made(), "x", {.ttl = 5s}};                            // error: deleted
  const tyer::mutex three{made_const(), "x"};                                 // error: deleted
  const tyer::mutex four{engine.connect(), "x"};                              // error: deleted
  const tyer::mutex five{std::move(c), "x"};                                  // error: deleted
  const tyer::mutex six{made(), "x", {}, std::source_location{}};             // error: deleted
  const tyer::recursive_mutex again{made(), "x"};                             // error: deleted
  const tyer::shared_mutex shared{made(), "x", {.ttl = 5s}};                  // error: deleted
  const tyer::semaphore slots{made(), "x", 3, {.ttl = 5s}};                   // error: deleted
  const tyer::election office{made(), "x", {.note = "10.0.0.7:8080"}};        // error: deleted
  const tyer::admin admin{made()};                                            // error: deleted
  const tyer::multi_mutex both{made(), {"x", "y"}};                           // error: deleted
  const tyer::multi_mutex strings{made(), std::vector<std::string>{"x"}};     // error: deleted
  const tyer::multi_mutex views{made(), std::vector<std::string_view>{"x"}};  // error: deleted
  const tyer::multi_mutex::part part{made(), "y"};                            // error: deleted
}

void misused_recipes(std::shared_ptr<tyer::recipes::store> store, tyer::recipes::once_per once) {
  const tyer::recipes::single_flight flight{made(), "x", store};  // error: deleted
  const tyer::recipes::cached cache{made(), "x", store};          // error: deleted
  const tyer::recipes::striped parts{made(), "x", 4};             // error: deleted
  const tyer::recipes::shared_value token{made(), once, store};   // error: deleted
}

void used(const tyer::client& c) {
  const tyer::mutex m{c, "x"};
  const tyer::admin admin{c};
  tyer::client kept = made();
  const tyer::hold h = tyer::mutex{kept, "x"}.acquire();
}
