// Looking again and again, until the time is over or somebody presses Ctrl-C.
#pragma once

#include "base/session.hpp"
#include "base/signals.hpp"
#include "text/entries.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace cli {

struct repetition {
  std::chrono::milliseconds every{1000};
  std::optional<std::chrono::milliseconds> during;
  bool prints = true;  // and ends when nobody can read that any more
};

// Thrown by a look that a signal has interrupted.
struct interrupted {};
void throw_if_interrupted(const signals& bell);

// Calls `look` until the time is over or a signal comes; `look` returns the pause until the next call. A look may take long,
// if an engine has much to list: those ask throw_if_interrupted() from time to time.
exit_code repeat(const repetition& r, signals& bell, const std::function<std::chrono::milliseconds()>& look);

// Redraws the screen at each wake-up of the bell and, since shown ages grow, every so often. The first line says where and
// when.
exit_code repeat_on_screen(session& s, const repetition& r, signals& bell, const std::function<std::string()>& picture);

// By the clock of this machine: "12:03:11".
std::string clock_time();

// All locks, or why they are not known. An outage is no reason to end: the output shows it. Throws interrupted, and what no
// wait can change: an engine that cannot list them.
std::vector<lock> look_at_all(const tyer::admin& admin, const std::string& prefix, const signals& bell,
                              tyer::failure& why);
std::string in_words(const tyer::failure& why);

}  // namespace cli
