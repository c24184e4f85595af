// Says "held" after locking on the engine that the URI names, else why that engine is not there.
#include <tyer/recipes.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>
#include <string>

int main(int, char** argv) {
  const std::string headers = std::to_string(TYER_VERSION_MAJOR) + '.' + std::to_string(TYER_VERSION_MINOR) + '.' +
                              std::to_string(TYER_VERSION_PATCH);
  try {
    tyer::client client{argv[1]};
    tyer::mutex m{client, "user"};
    const std::scoped_lock lock{m};
    tyer::testing::engine engine;
    const tyer::recipes::striped parts{client, "parts", 2};
    if (parts.size() != 2) return 1;
    if (m.held().valid() && tyer::library_version() == headers) std::cout << "held\n";
  } catch (const tyer::error& e) {
    std::cout << e.words() << '\n';
  }
}
