// Another process with a client of its own (contract_child), which a test may kill or stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace contract {

class child {
 public:
  // Connects to the engine and acquires the name at once; says "held TOKEN" then, and "lost" when that is over.
  child(const std::string& name, std::chrono::milliseconds ttl, std::chrono::milliseconds waiter_ttl);
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
