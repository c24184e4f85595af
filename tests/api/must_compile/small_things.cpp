// What one would write without looking it up.
#include <tyer/admin.hpp>
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

using namespace std::chrono_literals;

void failures(const tyer::failure& why) {
  if (why == tyer::errc::lost || why != tyer::errc::cancelled) std::cout << why.message();
  if (why == std::errc::not_enough_memory || std::errc::timed_out != why) return;
  if (tyer::is_transient(why.code) || tyer::is_transient(tyer::errc::unavailable)) return;
}

void ids(const tyer::hold& h) {
  std::unordered_map<tyer::hold_id, int> seen;
  const tyer::hold_id id = h.id();
  ++seen[id];
  std::cout << id << h.id();
  const std::string_view text = id.view();
  static_cast<void>(text);
}

void forms(const tyer::client& c, const tyer::election& l, tyer::multi_mutex& m, tyer::failure& why) {
  tyer::hold h = l.campaign(why);
  h = l.campaign(why, std::stop_token{});
  h = l.campaign(std::stop_token{});
  h = l.try_acquire_until(why, std::chrono::system_clock::now() + 1s);
  c.ask("x", "please");
  c.ask(why, "x");
  if (m.try_lock_for(1s)) m.unlock();
  const std::unique_lock guard{m, 1s}, until{m, std::chrono::steady_clock::now() + 1s};
}

// The readers' side of a lock that is gone is a lock of its own.
tyer::hold reads(const tyer::client& c) {
  const tyer::acquirable& readers = tyer::shared_mutex{c, "a"}.shared();
  return readers.acquire();
}

// Who looks on may want to know that nothing can be seen.
void looks_on(const tyer::election& office, const tyer::admin& operators) {
  const auto failed = [](const tyer::failure& why) { static_cast<void>(why.message()); };
  const tyer::observation one = office.observe([](const std::optional<tyer::leadership>&) {}, failed);
  const tyer::observation two =
      operators.watch("a", [](const std::vector<tyer::lock_entry>&) {}, std::chrono::seconds{2}, failed);
}
