// The server behind the engine, where a test may disturb one: the instance that `tools/engines run` has started.
#pragma once

#include <string>

namespace contract {

// TYER_URI, or memory://contract.
std::string engine_uri();

// Unique over processes and runs: engines may keep what an earlier run has left.
std::string fresh_name();

class server {
 public:
  server();
  ~server();  // lets a paused one go on, starts a killed one again

  // Whether there is one: then other processes reach it too, and it can be paused, killed and restarted.
  bool there() const { return !id_.empty(); }

  void pause();
  void resume();
  void kill();
  void restart();

 private:
  void tell(const std::string& command) const;

  std::string id_;
  bool paused_ = false;
  bool killed_ = false;
};

}  // namespace contract
