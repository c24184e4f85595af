#include "handoff/suite.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

void require(bool fine, const char* words) {
  if (!fine) throw std::runtime_error(words);
}

void write_all(int to, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const auto n = ::write(to, at, size);
    require(n > 0, "a contestant cannot tell its turns");
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

void read_all(int from, void* data, std::size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const auto n = ::read(from, at, size);
    require(n > 0, "a contestant ended early");
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

// Another copy of this program, between two pipes.
class contestant {
 public:
  contestant(int threads, std::uint32_t handoffs, milliseconds run) {
    std::array<int, 2> to{}, from{};
    require(::pipe2(to.data(), O_CLOEXEC) == 0 && ::pipe2(from.data(), O_CLOEXEC) == 0, "no pipe");
    const std::string words[] = {std::to_string(threads), std::to_string(handoffs), std::to_string(run.count())};
    child_ = ::fork();
    require(child_ >= 0, "no process");
    if (child_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "bench_handoff", "--contestant", words[0].c_str(), words[1].c_str(), words[2].c_str(),
              nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  contestant(contestant&& other) noexcept
      : child_(std::exchange(other.child_, 0)),
        to_(std::exchange(other.to_, -1)),
        from_(std::exchange(other.from_, -1)) {}
  ~contestant() {
    if (child_ == 0) return;
    ::close(to_);
    ::close(from_);
    ::waitpid(child_, nullptr, 0);
  }

  void until_ready() {
    char word = 0;
    read_all(from_, &word, 1);
  }
  void go() { write_all(to_, "g", 1); }
  std::vector<std::uint64_t> tokens() {
    std::uint64_t count = 0;
    read_all(from_, &count, sizeof count);
    std::vector<std::uint64_t> all(count);
    read_all(from_, all.data(), count * sizeof all[0]);
    return all;
  }

 private:
  pid_t child_ = 0;
  int to_ = -1, from_ = -1;
};

struct turn {
  std::uint64_t token;
  std::size_t process;
};

// One log in the order of the tokens, from the moment the last one came to the moment the first one left.
std::vector<turn> merge(const std::vector<std::vector<std::uint64_t>>& logs) {
  std::uint64_t from = 0, to = std::numeric_limits<std::uint64_t>::max();
  std::vector<turn> all;
  for (std::size_t p = 0; p < logs.size(); ++p) {
    require(!logs[p].empty(), "a process had no turn at all");
    from = std::max(from, logs[p].front());
    to = std::min(to, logs[p].back());
    for (const auto token : logs[p]) all.push_back({token, p});
  }
  std::erase_if(all, [&](const turn& t) { return t.token < from || t.token > to; });
  std::sort(all.begin(), all.end(), [](const turn& a, const turn& b) { return a.token < b.token; });
  return all;
}

contest judge(const std::vector<turn>& log, std::size_t processes, double seconds) {
  contest c;
  c.turns_of.resize(processes);
  std::size_t run = 0, of_grant = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const bool first = i == 0;
    require(first || log[i].token != log[i - 1].token, "one token was given twice");
    run = !first && log[i].process == log[i - 1].process ? run + 1 : 1;
    of_grant = !first && log[i].token / 256 == log[i - 1].token / 256 ? of_grant + 1 : 1;
    c.run_max = std::max(c.run_max, run);
    c.turns_per_grant_max = std::max(c.turns_per_grant_max, of_grant);
    ++c.turns_of[log[i].process];
  }
  c.per_second = static_cast<double>(log.size()) / seconds;
  return c;
}

}  // namespace

double contest::share_min_max() const {
  const auto [least, most] = std::minmax_element(turns_of.begin(), turns_of.end());
  return static_cast<double>(*least) / static_cast<double>(*most);
}

contest hold_contest(int processes, int threads, std::uint32_t handoffs, milliseconds run) {
  std::vector<contestant> all;
  for (int i = 0; i < processes; ++i) all.emplace_back(threads, handoffs, run);
  for (auto& one : all) one.until_ready();
  for (auto& one : all) one.go();
  std::vector<std::vector<std::uint64_t>> logs;
  for (auto& one : all) logs.push_back(one.tokens());
  return judge(merge(logs), logs.size(), std::chrono::duration<double>(run).count());
}

int be_contestant(const std::string& uri, int threads, std::uint32_t handoffs, milliseconds run) {
  write_all(STDOUT_FILENO, "r", 1);
  char word = 0;
  read_all(STDIN_FILENO, &word, 1);
  const auto mine = take_turns(uri, threads, handoffs, run);
  const std::uint64_t count = mine.tokens.size();
  write_all(STDOUT_FILENO, &count, sizeof count);
  write_all(STDOUT_FILENO, mine.tokens.data(), count * sizeof mine.tokens[0]);
  return 0;
}

}  // namespace bench
