#include "base/repeat.hpp"

#include "text/live.hpp"
#include "text/plain.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <iostream>

namespace cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// A command that has nothing to write for long would not notice.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

constexpr milliseconds pause_least{100};  // --every 0 is no reason to ask an engine without end

exit_code repeat(const repetition& r, signals& bell, const std::function<milliseconds()>& look) try {
  const auto start = steady_clock::now();
  for (;;) {
    auto pause = std::max(look(), pause_least);
    if (r.prints && !std::cout) return exit_code::failed;  // main() says so
    if (r.prints && reader_is_gone()) return passed_on(128 + SIGPIPE);
    if (r.during) {
      const auto left = *r.during - std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
      if (left <= 0ms) return exit_code::ok;
      pause = std::min(pause, left);
    }
    if (!bell.wait(pause)) return exit_code::ok;  // the usual way to end it
  }
} catch (const interrupted&) {
  return exit_code::ok;
}

exit_code repeat_on_screen(session& s, const repetition& r, signals& bell,
                           const std::function<std::string()>& picture) {
  const live_screen screen{bell};
  const auto where = short_address(s.admin().address());
  return repeat(r, bell, [&] {
    screen.draw(s.screen().in(tone::faint, where + "  " + clock_time() + "  Ctrl-C ends") + "\n\n" + picture(),
                s.screen().height());
    return r.every;
  });
}

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

void throw_if_interrupted(const signals& bell) {
  if (bell.rung()) throw interrupted{};
}

std::vector<lock> look_at_all(const tyer::admin& admin, const std::string& prefix, const signals& bell,
                              tyer::failure& why) {
  try {
    return list_all(admin, prefix, [&] { throw_if_interrupted(bell); });
  } catch (const tyer::error& e) {
    if (e.code() == tyer::errc::unsupported) throw;
    why = {e.code(), e.words()};
    return {};
  }
}

std::string in_words(const tyer::failure& why) {
  if (why == tyer::errc::unsupported) return plain(why.words);
  return "the engine does not answer: " + plain(why.words.empty() ? why.code.message() : why.words);
}

}  // namespace cli
