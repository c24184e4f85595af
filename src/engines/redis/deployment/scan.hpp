// SCAN through all masters, one after the other.
#pragma once

#include "engines/redis/deployment/deployment.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::redis {

// One page. Valid during the call.
struct scanned {
  engine::time_point sent;
  const engine::failure* wrong = nullptr;
  std::string cursor;  // empty: there is no more
  std::span<const std::string_view> keys;
};

// A cursor is the number of the server, a dot, and the server's own cursor.
struct scan_place {
  std::size_t server = 0;
  std::string cursor = "0";

  static scan_place read(std::string_view text) {
    scan_place p;
    const auto dot = text.find('.');
    if (dot == text.npos) return p;
    std::from_chars(text.data(), text.data() + dot, p.server);
    p.cursor = text.substr(dot + 1);
    return p;
  }
  std::string next(std::string_view theirs, std::size_t servers) const {
    if (theirs != "0") return std::to_string(server) + '.' + std::string{theirs};
    return server + 1 < servers ? std::to_string(server + 1) + ".0" : std::string{};
  }
};

// `options`: what follows the cursor (MATCH …). `back` gets a `scanned`.
template <class Back>
void scan(deployment& d, std::string_view cursor, std::span<const std::string_view> options, Back back) {
  const auto servers = d.masters();
  if (servers.empty()) {
    return d.refuse(no_servers(), [back = std::move(back)](const received& r) { back({r.sent, r.wrong, {}, {}}); });
  }
  auto from = scan_place::read(cursor);
  std::vector<std::string_view> words{from.cursor};
  words.insert(words.end(), options.begin(), options.end());
  connection& at = *servers[std::min(from.server, servers.size() - 1)];
  if (!at.speaks_resp3()) {
    engine::failure f{engine::why::unsupported, make_error_code(errc::unsupported),
                      "a proxy that does not speak RESP3 cannot list the locks; one that is named can be shown"};
    return d.refuse(std::move(f), [back = std::move(back)](const received& r) { back({r.sent, r.wrong, {}, {}}); });
  }
  at.command("SCAN", words, [from, all = servers.size(), back = std::move(back)](const received& r) {
    if (r.wrong != nullptr || r.words.empty()) return back({r.sent, r.wrong, {}, {}});
    back({r.sent, nullptr, from.next(r.words[0], all), r.words.subspan(1)});
  });
}

}  // namespace tyer::redis
