// Words that other headers define: those of Qt (without QT_NO_KEYWORDS), and min and max.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#define slots
#define signals public
#define emit
#define foreach(a, b) for (a : b)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define check(a) static_cast<void>(a)

#include <tyer/async.hpp>
#include <tyer/debug.hpp>
#include <tyer/recipes.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

bool used(tyer::mutex& m, tyer::semaphore& s, std::chrono::seconds limit) {
  const tyer::hold h = m.try_acquire_for(limit), one = s.try_acquire_until(std::chrono::steady_clock::now() + limit);
  return h && one && one.slot() < (s.max)() && !one.slot_numbers().empty();
}
