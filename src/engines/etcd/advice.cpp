#include "engines/etcd/advice.hpp"

#include <string_view>

namespace tyer::etcd {

namespace {

std::string_view advice(std::string_view words, const config& c, bool has_answered) {
  const auto said = [&](std::string_view part) { return words.find(part) != words.npos; };
  if (!c.tls) return {};
  if (said("certificate verify failed"))
    return "the server's certificate was not accepted: name the authority that signed it with ?ca=FILE";
  if (said("peer certificate") || said("Hostname Verification"))
    return "the server's certificate was not accepted: it is not made for the name in the URI";
  // A client that TLS 1.3 lets in is told only later that its certificate will not do.
  const bool broke_off =
      !has_answered && (said("Endpoint read failed") || said("Socket closed") || said("Connection reset"));
  if (broke_off && c.cert.empty())
    return "it broke off when it was to check who we are: if it asks for a certificate, give one with "
           "?cert=FILE&key=FILE";
  if (broke_off)
    return "it broke off when it was to check who we are: perhaps it does not accept the certificate of ?cert=";
  if (said("empty address list") && !c.cert.empty()) return "perhaps ?key= cannot be read as the PEM key of ?cert=";
  return {};
}

}  // namespace

std::string with_advice(std::string words, const config& c, bool has_answered) {
  if (const auto more = advice(words, c, has_answered); !more.empty()) words.append(": ").append(more);
  return words;
}

}  // namespace tyer::etcd
