// Shared by several engines: options in the query of a URI, and common capabilities.
#pragma once

#include "core/uri.hpp"
#include "engine/engine.hpp"

#include <tyer/error.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace tyer::kit {

inline tyer::failure wrong_uri(std::string words) { return {errc::invalid_uri, std::move(words)}; }

// True if the whole text is a number from `least` to `most`.
inline bool read_number(std::string_view text, std::uint32_t least, std::uint32_t most, std::uint32_t& out) {
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && at == end && out >= least && out <= most;
}

inline tyer::failure take_number(core::uri& u, const std::string& option, std::uint32_t least, std::uint32_t most,
                                 std::uint32_t& out, const char* unit = "") {
  const auto text = u.take(option);
  if (!text || read_number(*text, least, most, out)) return {};
  return wrong_uri('?' + option + "= must be " + unit + std::to_string(least) + " to " + std::to_string(most));
}

struct tls_options {
  std::string ca, cert, key;  // files
  bool verify = true;
};

inline tyer::failure take_tls(core::uri& u, tls_options& o) {
  o.ca = u.take("ca").value_or("");
  o.cert = u.take("cert").value_or("");
  o.key = u.take("key").value_or("");
  if (o.cert.empty() != o.key.empty()) return wrong_uri("?cert= and ?key= belong together");
  const auto verify = u.take("verify").value_or("peer");
  if (verify != "none" && verify != "peer") return wrong_uri("?verify= must be peer (the default) or none");
  o.verify = verify != "none";
  return {};
}

// TLS options without TLS: the s of the scheme was forgotten.
inline tyer::failure refuse_tls(const core::uri& u) {
  const auto plain = u.scheme.substr(0, u.scheme.find('+'));
  for (const char* option : {"ca", "cert", "key", "verify"}) {
    if (u.find(option))
      return wrong_uri('?' + std::string{option} + "= is an option of TLS: with TLS the URI begins with " + plain +
                       "s, not " + plain);
  }
  return {};
}

// A queue, tokens and pushes, in every mode.
inline engine::capabilities all_modes(std::size_t keep_batch) noexcept {
  engine::capabilities c{.keep_batch = keep_batch};
  c.queue = c.shared = c.permits = c.push = c.token = c.convert = true;
  return c;
}

}  // namespace tyer::kit
