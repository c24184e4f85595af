// The address of an engine: scheme://user:password@host:port,host:port/path?key=value&key=value
//
// Percent-encoding is undone in user, password, path and query. Several hosts are separated by commas. An error never
// repeats a part of the URI that could hold a secret.
#pragma once

#include <tyer/error.hpp>
#include <tyer/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::core {

struct endpoint {
  std::string host;
  std::uint16_t port = 0;  // 0: the engine's default

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

struct uri {
  std::string scheme;
  std::string user, password;
  std::vector<endpoint> hosts;
  std::string path;  // without the leading slash
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::string> known;  // the keys that somebody has taken, whether they were there or not

  // Removes a key from the query and returns its value. Keys that are left in the end are unknown options, or given twice.
  TYER_EXPORT std::optional<std::string> take(std::string_view key);

  // The same without removing it.
  TYER_EXPORT std::optional<std::string> find(std::string_view key) const;

  // For logs: without user, password and query.
  TYER_EXPORT std::string shown() const;

  // The same for all that mean the same servers, as far as that can be told without asking: with the path, the hosts in one order,
  // names in small letters and addresses in one form.
  TYER_EXPORT std::string place() const;
};

struct parsed_uri {
  uri value;
  failure error;
};

TYER_EXPORT parsed_uri parse_uri(std::string_view text);

}  // namespace tyer::core
