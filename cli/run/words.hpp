// What --help and the man pages say of `run`, `try` and `elect` alike.
#pragma once

#include <initializer_list>
#include <string>

namespace cli::words {

inline constexpr const char* usage = "[OPTION…] NAME [--] COMMAND…";

inline constexpr const char* whose_words =
    "From COMMAND on all words are the command's, also those that look like options of tyer: these stand before it. A "
    "NAME that begins with a dash has a -- of its own: `tyer run -- -x -- COMMAND`.";

inline constexpr const char* what_is_promised =
    "The command, and all that came from it, is dead before anybody else can get the lock: a guardian process sends "
    "SIGTERM a grace before the lock would end and SIGKILL before it does, also when tyer itself is stopped, "
    "killed, or cut off from the engine. It finds processes that have left the command's process group or session, in "
    "/proc: where that cannot be read, or is that of another PID namespace, "
    "nothing is run, unless --without-proc says that nothing will leave. "
    "It cannot end what another service has started for the command (docker, systemd-run, at, ssh), what runs as "
    "another user (sudo), or what sleeps uninterruptibly in the kernel; and it cannot act while it is itself "
    "stopped, or the whole machine is. Where a mistake would cost data, let what you write to check TYER_TOKEN as "
    "well.";

inline constexpr const char* environment =
    "The command has TYER_LOCK (the name), TYER_TOKEN (a number that is larger with every later grant: show it to "
    "what you write to) and TYER_HOLD (an id of this hold alone) in its environment. Input, output and the terminal "
    "are its own. Signals that tyer is sent are passed on; while Ctrl-Z "
    "has stopped it, the lock is kept. Its exit code is tyer's: 128 and more for a signal.";

inline constexpr const char* slots =
    "With --permits it has TYER_SLOT as well, the first of its slots, and TYER_SLOTS, all of them.";

inline constexpr const char* if_asked =
    "If somebody asks for the lock (tyer break), the command is sent SIGTERM, once; when it ends, that is an end of "
    "its own, and its code is tyer's. If it does not end, it keeps the lock. What takes the lock (tyer break --now) "
    "is a loss like any other.";

inline constexpr const char* the_end =
    "When the command ends, processes that it has left behind are ended as well, and then the lock is free at once; "
    "with --leave they live on without it. With --json a line on standard error says how it went; standard output is "
    "the command's.";

inline std::string paragraphs(std::initializer_list<std::string> all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "\n\n") + one;
  return text;
}

}  // namespace cli::words
