#include "guard/family.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace cli {

namespace {

constexpr int parent_field = 4, born_field = 22;  // of /proc/PID/stat, counted from 1 as in proc(5)

// The fields after the command's name, which may itself contain spaces and brackets.
std::optional<relative> parse(pid_t pid, std::string_view stat) {
  const auto bracket = stat.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= stat.size()) return {};
  stat.remove_prefix(bracket + 2);
  relative r{.pid = pid};
  for (int field = 3; !stat.empty() && field <= born_field; ++field) {
    const auto word = stat.substr(0, stat.find(' '));
    if (field == parent_field) std::from_chars(word.data(), word.data() + word.size(), r.parent);
    if (field == born_field) std::from_chars(word.data(), word.data() + word.size(), r.born);
    stat.remove_prefix(std::min(word.size() + 1, stat.size()));
  }
  return r;
}

std::optional<relative> look_at(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[1024];
  const ssize_t got = ::read(fd, text, sizeof text);
  ::close(fd);
  if (got <= 0) return {};
  return parse(pid, {text, static_cast<std::size_t>(got)});
}

std::vector<relative> everybody() {
  std::vector<relative> all;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return all;
  while (const dirent* entry = ::readdir(proc)) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (const auto [rest, failed] = std::from_chars(entry->d_name, end, pid); failed != std::errc{} || rest != end)
      continue;
    if (const auto r = look_at(pid)) all.push_back(*r);
  }
  ::closedir(proc);
  return all;
}

// By pidfd: between the check and the signal the pid may have been reused.
int signal_exactly(const relative& r, int signal) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, r.pid, 0));
  if (fd < 0) return errno == ENOSYS ? ::kill(r.pid, signal) : -1;
  const auto now = look_at(r.pid);
  int result = 0;
  if (now && now->born == r.born) result = static_cast<int>(::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0));
  const int why = errno;
  ::close(fd);
  errno = why;
  return result;
}

// A /proc of another PID namespace (unshare -p without --mount-proc, a sandbox with the host's) has other pids than kill().
// The NSpid line has one pid for each namespace from that of /proc down to ours.
bool proc_counts_as_we_do() {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  while (status >> word && word != "NSpid:") {}
  std::string numbers;
  if (!std::getline(status, numbers)) return look_at(::getpid()).has_value();  // Linux before 4.1 has no NSpid
  std::istringstream each{numbers};
  pid_t first = 0, second = 0;
  return each >> first && first == ::getpid() && !(each >> second);
}

}  // namespace

std::vector<relative> descendants(pid_t head) {
  auto others = everybody();
  std::vector<relative> family;
  std::vector<pid_t> parents{head};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    std::erase_if(others, [&](const relative& r) {
      if (r.parent != parent) return false;
      family.push_back(r);
      parents.push_back(r.pid);
      return true;
    });
  }
  return family;
}

bool can_see_descendants() {
  DIR* proc = ::opendir("/proc");
  if (proc != nullptr) ::closedir(proc);
  return proc != nullptr && proc_counts_as_we_do();
}

reached signal_descendants(pid_t head, std::initializer_list<int> signals) {
  reached result{.blind = !can_see_descendants()};
  if (result.blind) return result;  // pids of another namespace are other processes in ours
  for (const relative& r : descendants(head)) {
    ++result.count;
    for (const int signal : signals) {
      if (signal_exactly(r, signal) != 0 && errno == EPERM) result.forbidden = r.pid;
    }
  }
  return result;
}

}  // namespace cli
