// Texts of --help and the man pages that `run`, `try` and `elect` share.
#pragma once

#include <initializer_list>
#include <string>

namespace cli::words {

inline constexpr const char* usage = "[OPTION…] NAME [--] COMMAND…";

inline constexpr const char* whose_words =
    "All words from COMMAND on belong to the command, also those that look like options of tyer: options of tyer come "
    "before it. For a NAME that begins with a dash, write a -- before it too: `tyer run -- -x -- COMMAND`.";

inline constexpr const char* what_is_promised =
    "The command and all its descendants are dead before anybody else can get the lock: a guardian process sends "
    "SIGTERM a grace period before the lock would end and SIGKILL before it does, also when tyer itself is stopped, "
    "killed, or cut off from the engine. It uses /proc to find processes that have left the command's process group "
    "or session: if /proc cannot be read, or belongs to another PID namespace, nothing is run, unless --without-proc "
    "promises that no process will leave. The guardian cannot end what another service has started for the command "
    "(docker, systemd-run, at, ssh), what runs as another user (sudo), or what sleeps uninterruptibly in the kernel; "
    "and it cannot act while it is itself stopped, or the whole machine is. If a mistake would cost data, let the "
    "resource that you write to check TYER_TOKEN as well.";

inline constexpr const char* environment =
    "The environment of the command has TYER_LOCK (the name), TYER_TOKEN (the fencing token, larger with every later "
    "grant: send it with every write) and TYER_HOLD (the id of this hold). Input, output and the terminal belong to "
    "the command. Signals to tyer are passed on; while Ctrl-Z has stopped the command, the lock is kept. The exit "
    "code of the command is tyer's: 128 and more for a signal.";

inline constexpr const char* slots =
    "With --permits it also has TYER_SLOT, the first of its slots, and TYER_SLOTS, all of them.";

inline constexpr const char* if_asked =
    "If somebody asks for the lock (tyer break), the command gets SIGTERM, once; when it ends, that counts as a "
    "normal end, and its code is tyer's. If it does not end, it keeps the lock. If the lock is taken away (tyer break "
    "--now), that is a loss like any other.";

inline constexpr const char* the_end =
    "When the command ends, processes that it has left behind are ended too, and then the lock is free at once; with "
    "--leave they live on without the lock. With --json a line on standard error reports the result; standard output "
    "belongs to the command.";

inline std::string paragraphs(std::initializer_list<std::string> all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "\n\n") + one;
  return text;
}

}  // namespace cli::words
