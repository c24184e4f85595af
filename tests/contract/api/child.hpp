// Another process with a client of its own (contract_child), which a test may kill or stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace contract {

// Which lock it wants.
struct child_order {
  std::string name;
  std::string kind = "mutex";  // as contract_child.cpp has them
  std::chrono::milliseconds ttl{2500}, waiter_ttl{2000}, lock_delay{0};
  int turns = 0;  // takes it so often, and counts in `file` how many were inside at once
  std::string file = {};
};

class child {
 public:
  // Connects to the engine and acquires the lock at once; says "held TOKEN" then, and "lost" when that is over. With turns
  // it says "worked MOST" at the end.
  explicit child(const child_order& o);
  ~child();  // kills it
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }

  // The next line it says, if it comes in time.
  std::optional<std::string> line(std::chrono::milliseconds within);
  // Skips until a line begins so.
  std::optional<std::string> line_with(std::string_view beginning, std::chrono::milliseconds within);

  void release();  // it says "released" then, and ends
  void signal(int number) const;
  void kill();  // and reaps it

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string read_;
};

}  // namespace contract
