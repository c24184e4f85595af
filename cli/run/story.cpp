#include "run/story.hpp"

#include "text/json.hpp"

#include <tyer/error.hpp>

#include <iostream>

namespace cli {

namespace {

const char* outcome_of(exit_code code) {
  if (code == exit_code::lost) return "lost";
  return "not_started";
}

json milliseconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count();
}

}  // namespace

void story::acquired(const tyer::hold& h) {
  acquired_at_ = clock::now();
  try {
    token_ = std::to_string(h.token());
  } catch (const tyer::error&) {  // this engine has none
  }
}

void story::over() { over_at_ = clock::now(); }

void story::tell(exit_code code) const {
  if (!wanted_) return;
  const json all = {{"name", text_json(lock_)},
                    {"outcome", outcome_ != nullptr ? outcome_ : outcome_of(code)},
                    {"code", static_cast<int>(code)},
                    {"token", token_ ? json(*token_) : json(nullptr)},
                    {"waited_ms", milliseconds_between(asked_at_, acquired_at_.value_or(clock::now()))},
                    {"held_ms", over_at_ ? milliseconds_between(*acquired_at_, *over_at_) : json(nullptr)}};
  std::cerr << all.dump() << '\n';
}

}  // namespace cli
