#include "contract/api/child.hpp"

#include "contract/api/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

extern char** environ;

namespace contract {

child::child(const child_order& o) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<std::string> words{TYER_CHILD, engine_uri(), o.name, o.kind};
  for (const auto time : {o.ttl, o.waiter_ttl, o.lock_delay}) words.push_back(std::to_string(time.count()));
  if (o.turns > 0) words.insert(words.end(), {std::to_string(o.turns), o.file});
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const int failed = ::posix_spawn(&pid_, TYER_CHILD, &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0) throw std::runtime_error("cannot run " TYER_CHILD);
}

child::~child() {
  kill();
  ::close(to_);
  ::close(from_);
}

std::optional<std::string> child::line(std::chrono::milliseconds within) {
  const auto limit = std::chrono::steady_clock::now() + within;
  for (;;) {
    if (const auto end = read_.find('\n'); end != std::string::npos) {
      auto l = read_.substr(0, end);
      read_.erase(0, end + 1);
      return l;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    pollfd fd{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&fd, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
    std::array<char, 256> buffer{};
    const auto n = ::read(from_, buffer.data(), buffer.size());
    if (n <= 0) return std::nullopt;
    read_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

std::optional<std::string> child::line_with(std::string_view beginning, std::chrono::milliseconds within) {
  const auto limit = std::chrono::steady_clock::now() + within;
  for (;;) {
    auto l = line(std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now()));
    if (!l || l->starts_with(beginning)) return l;
  }
}

void child::release() { [[maybe_unused]] const auto n = ::write(to_, "release\n", 8); }

void child::signal(int number) const { ::kill(pid_, number); }

void child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace contract
