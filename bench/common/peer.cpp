#include "common/peer.hpp"

#include "core/uri.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace bench {

peer::peer(const std::string& uri, const char* variable) {
  const auto parsed = tyer::core::parse_uri(uri);
  if (parsed.error) throw std::runtime_error(parsed.error.words);
  const auto& to = parsed.value.hosts.front();
  address_ = to.host + ':' + std::to_string(to.port);
  if (const char* command = std::getenv(variable)) command_ = command;
}

double peer::one(milliseconds run) const { return measure("one " + std::to_string(run.count())); }

double peer::many(int callers, milliseconds run) const {
  return measure("many " + std::to_string(callers) + ' ' + std::to_string(run.count()));
}

double peer::handover(int callers, milliseconds run) const {
  return measure("handover " + std::to_string(callers) + ' ' + std::to_string(run.count()));
}

double peer::measure(const std::string& what) const {
  const std::string command = command_ + " '" + address_ + "' " + what;
  FILE* const out = ::popen(command.c_str(), "r");
  if (out == nullptr) throw std::runtime_error("cannot start " + command);
  double figure = 0;
  const bool told = std::fscanf(out, "%lf", &figure) == 1;
  if (::pclose(out) != 0 || !told) throw std::runtime_error("the peer failed: " + command);
  return figure;
}

}  // namespace bench
