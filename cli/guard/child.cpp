#include "guard/child.hpp"

#include "base/inherited_signals.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace cli {

namespace {

constexpr int code_not_found = 127, code_not_started = 126, code_of_first_signal = 128;

// Removes variables of an outer `tyer run` that this one may not set itself: a slot, or the token of another lock.
void forget_outer_lock() {
  for (const char* name : {"TYER_LOCK", "TYER_HOLD", "TYER_TOKEN", "TYER_SLOT", "TYER_SLOTS", "TYER_INSIDE"})
    ::unsetenv(name);
}

void add_to_environment(std::string_view all) {
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find('\0'));
    if (const auto equals = one.find('='); equals != std::string_view::npos)
      ::setenv(std::string{one.substr(0, equals)}.c_str(), std::string{one.substr(equals + 1)}.c_str(), 1);
    all.remove_prefix(std::min(one.size() + 1, all.size()));
  }
}

// In the child. The guardian has one thread, so everything is allowed here.
[[noreturn]] void become(const std::vector<std::string>& command, std::string_view environment, const sigset_t& mask,
                         pid_t guardian, pid_t group, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) ::_exit(code_not_started);  // the guardian died before the line above
  ::setpgid(0, group);
  forget_outer_lock();
  add_to_environment(environment);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  hand_signals_on();
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(words.front(), words.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &why, sizeof why);
  ::_exit(code_of_failure(why));
}

int executable(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

child start_child(const std::vector<std::string>& command, std::string_view environment, const sigset_t& mask,
                  pid_t front_group, bool on_terminal) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t guardian = ::getpid();
  const pid_t group = on_terminal ? front_group : 0;
  const pid_t pid = ::fork();
  if (pid == 0) become(command, environment, mask, guardian, group, report[1]);
  const int why = errno;
  ::close(report[1]);
  if (pid < 0) {
    ::close(report[0]);
    throw std::system_error(why, std::generic_category(), "fork");
  }
  ::setpgid(pid, group);  // the child does the same: whichever is first, it is done when we continue
  return {.pid = pid, .own_group = !on_terminal, .report = report[0]};
}

int why_not_started(child& c) {
  int why = 0;
  if (::read(c.report, &why, sizeof why) != sizeof why) why = 0;
  ::close(std::exchange(c.report, -1));
  return why;
}

int cannot_start(const std::string& program) {
  if (program.find('/') != std::string::npos) return executable(program);
  const char* path = std::getenv("PATH");
  std::string_view left = path != nullptr ? path : "/bin:/usr/bin";
  int worst = ENOENT;
  for (;;) {
    const auto folder = left.substr(0, left.find(':'));
    const int why = executable(std::string{folder.empty() ? "." : folder} + "/" + program);
    if (why == 0) return 0;
    if (why == EACCES) worst = EACCES;
    if (folder.size() == left.size()) return worst;
    left.remove_prefix(folder.size() + 1);
  }
}

int code_of_failure(int failure) { return failure == ENOENT || failure == ENOTDIR ? code_not_found : code_not_started; }

int code_of_status(int status) {
  return WIFSIGNALED(status) ? code_of_first_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace cli
