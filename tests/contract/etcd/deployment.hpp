// The servers of etcd behind a test, one by one: who leads, where each of them listens, and a URI that begins with any of them.
#pragma once

#include <string>
#include <vector>

namespace contract {

struct member {
  std::string name, role, port;
};

class deployment {
 public:
  deployment();

  std::vector<member> members() const;
  member with_role(const std::string& role) const;  // leader, follower-0, follower-1

  // All of them, that one first; or all but that one. More may be put behind the first.
  std::string beginning_with(const member&, const std::vector<std::string>& then = {}) const;
  std::string without(const member&) const;

  // As `tools/engines COMMAND ID WORDS`; gives back what it said.
  std::string tell(const std::string& command, const std::string& words = {}) const;
  void settle() const { tell("wait"); }  // until they follow one leader

 private:
  std::string uri(const std::vector<std::string>& ports) const;

  std::string id_, login_, query_;
};

// Runs a program, and gives back what it said. Throws if it failed.
std::string said_by(const std::string& command);

}  // namespace contract
