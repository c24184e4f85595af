#include "base/trouble.hpp"

#include "base/mistakes.hpp"

namespace cli {

namespace {

std::string advice_for(const std::error_code& why, const std::string& words) {
  if (const auto todo = advice_on_replicas(words); !todo.empty())
    return "Too few replicas keep up: " + std::string{todo};
  if (why == tyer::errc::unavailable) return "Check that the server runs and can be reached from here: tyer doctor";
  if (why == tyer::errc::refused) return "Check what this login may do: tyer doctor";
  if (why == tyer::errc::permits_differ) return "All users of a semaphore must give the same number: --permits K/N";
  if (why == tyer::errc::name_conflict) return "Use another name or another --prefix, or remove what is stored there.";
  return {};
}

}  // namespace

exit_code code_of(const std::error_code& why) noexcept {
  using tyer::errc;
  if (why == errc::unavailable || why == errc::outcome_unknown) return exit_code::unreachable;
  if (why == errc::refused || why == errc::name_conflict || why == errc::over_limit || why == errc::unsupported ||
      why == errc::permits_differ) {
    return exit_code::refused;
  }
  if (why == errc::invalid_uri || why == errc::invalid_name || why == errc::invalid_option || why == errc::no_engine) {
    return exit_code::usage;
  }
  if (why == errc::lost) return exit_code::lost;
  return exit_code::failed;
}

trouble empty_value(const std::string& option) {
  return {exit_code::usage, option + " is empty (is a variable unset?)", "Leave the option out for its default."};
}

trouble trouble_of(const tyer::failure& why, const std::string& doing) {
  const std::string before = doing.empty() ? "" : doing + ": ";
  const std::string words = why.words.empty() ? why.code.message() : why.words;
  return {code_of(why.code), before + words, advice_for(why.code, words)};
}

}  // namespace cli
