// The exit codes of `tyer`. The only place with the numbers; --help and the man pages print this table.
//
// The numbers are in a range that few commands use, since `tyer run` passes the command's own code on; 124 to 127 mean the
// same as for timeout(1), env(1) and the shell.
#pragma once

#include <array>
#include <string_view>

namespace cli {

enum class exit_code : int {
  ok = 0,
  no = 1,
  usage = 120,
  unreachable = 121,
  refused = 122,
  lost = 123,
  not_acquired = 124,
  failed = 125,
  cannot_execute = 126,
  not_found = 127,
};

struct exit_code_meaning {
  exit_code code;
  std::string_view words;
};

inline constexpr std::array<exit_code_meaning, 10> exit_code_meanings{{
    {exit_code::ok, "done"},
    {exit_code::no,
     "the answer is no: the lock is free (show), there is nothing to break (break), something is wrong "
     "(doctor), there is a deadlock (deadlocks)"},
    {exit_code::usage, "wrong usage of tyer, or an error in its configuration"},
    {exit_code::unreachable, "the engine cannot be reached, or has not answered in time"},
    {exit_code::refused, "refused by the engine, or not confirmed by the user"},
    {exit_code::lost, "the lock was lost while the command ran; the command has been stopped"},
    {exit_code::not_acquired,
     "the lock was not free in time: others had it; or a start was skipped (run --once-per --fail-if-skipped)"},
    {exit_code::failed, "something else has failed"},
    {exit_code::cannot_execute, "the command cannot be executed (run, try, elect)"},
    {exit_code::not_found, "the command was not found (run, try, elect)"},
}};

// The exit code of a command that was run.
constexpr exit_code passed_on(int code) noexcept { return static_cast<exit_code>(code); }

}  // namespace cli
