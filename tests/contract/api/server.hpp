// The server behind the engine, where a test may disturb one: the instance that `tools/engines run` has started.
#pragma once

#include <set>
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
  void failover();  // a replica becomes master

  // Of several servers only this one.
  void pause(const std::string& member);
  void kill(const std::string& member);
  enum class data { kept, lost };
  void restart(const std::string& member, data = data::kept);

 private:
  void tell(const std::string& command, const std::string& member = {}) const;

  std::string id_;
  std::set<std::string> paused_, killed_;  // empty name: all of them
};

}  // namespace contract
