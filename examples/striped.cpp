// A hot stock in parts: as many sales at a time as there are parts, never more than there is, and nothing left over.
//
//   striped redis://127.0.0.1:6379
#include <tyer/recipes.hpp>

#include <array>
#include <atomic>
#include <future>
#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  // [striped]
  tyer::recipes::striped stock{client, "tickets", 4};
  std::array<int, 4> parts{7, 3, 0, 10};  // in real life four rows, each with its fence

  const auto sell = [&] {
    return stock.take([&](std::size_t part, const tyer::hold&) {  // its own part first, then the others
      if (parts[part] == 0) return false;
      --parts[part];
      return true;
    });
  };
  // [striped]
  std::vector<std::future<bool>> buyers;
  for (int i = 0; i < 24; ++i) buyers.push_back(std::async(std::launch::async, [&] { return sell().has_value(); }));
  int sold = 0;
  for (auto& b : buyers) sold += b.get() ? 1 : 0;
  std::cout << sold << " tickets sold to 24 buyers\n";

  // [by_key]
  const tyer::recipes::stripe_hold account = stock.acquire("account/4711");  // always the same stripe for a key
  // [by_key]
  return sold == 20 && account.held.valid() ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
