#include "contract/etcd/deployment.hpp"

#include "contract/api/server.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace contract {

std::string said_by(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  std::string text;
  std::array<char, 4096> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) text.append(piece.data(), n);
  if (::pclose(pipe) != 0) throw std::runtime_error("it failed: " + command);
  return text;
}

deployment::deployment() {
  const char* const id = std::getenv("TYER_ENGINE_ID");
  if (id == nullptr) throw std::runtime_error("run me with tools/engines run etcd3");
  id_ = id;
  const auto all = engine_uri();
  const auto hosts = std::string{"etcd://"}.size();
  if (const auto at = all.find('?'); at != all.npos) query_ = all.substr(at);
  if (const auto at = all.find('@'); at != all.npos) login_ = all.substr(hosts, at + 1 - hosts);
}

std::string deployment::tell(const std::string& command, const std::string& words) const {
  return said_by("'" TYER_TOOLS "/engines' " + command + " '" + id_ + "' " + words);
}

std::vector<member> deployment::members() const {
  std::vector<member> all;
  std::istringstream lines{tell("members")};
  std::string line;
  std::getline(lines, line);  // of headings
  while (std::getline(lines, line)) {
    std::istringstream words{line};
    member m;
    std::string state, pid;
    if (words >> m.name >> m.role >> state >> pid >> m.port) all.push_back(m);
  }
  return all;
}

member deployment::with_role(const std::string& role) const {
  for (const auto& m : members()) {
    if (m.role == role) return m;
  }
  throw std::runtime_error("nobody is the " + role);
}

std::string deployment::uri(const std::vector<std::string>& ports) const {
  std::string text = "etcd://" + login_;
  for (const auto& port : ports) text += (&port == ports.data() ? "127.0.0.1:" : ",127.0.0.1:") + port;
  return text + query_;
}

std::string deployment::beginning_with(const member& first, const std::vector<std::string>& then) const {
  std::vector<std::string> ports{first.port};
  ports.insert(ports.end(), then.begin(), then.end());
  for (const auto& m : members()) {
    if (m.port != first.port) ports.push_back(m.port);
  }
  return uri(ports);
}

std::string deployment::without(const member& one) const {
  std::vector<std::string> ports;
  for (const auto& m : members()) {
    if (m.port != one.port) ports.push_back(m.port);
  }
  return uri(ports);
}

}  // namespace contract
