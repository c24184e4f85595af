// Says "held" after locking on memory://, "made" if there is an engine for the URI, else why there is none.
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>
#include <string_view>

int main(int, char** argv) {
  const std::string_view uri = argv[1];
  try {
    tyer::client client{uri};
    if (!uri.starts_with("memory:")) {
      std::cout << "made\n";
      return 0;
    }
    tyer::mutex m{client, "user"};
    const std::scoped_lock lock{m};
    tyer::testing::engine engine;
    if (m.held().valid() && tyer::library_version() == "0.1.0") std::cout << "held\n";
  } catch (const tyer::error& e) {
    std::cout << e.words() << '\n';
  }
}
