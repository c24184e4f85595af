#include "engines/zookeeper/wire/digest_md5.hpp"

#include "core/id.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <utility>

namespace tyer::zookeeper::wire {

namespace {

// Servers are named so, whatever their address: zookeeper.server.principal is not used by DIGEST-MD5.
constexpr std::string_view service = "zookeeper/zk-sasl-md5";

std::string md5(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_md5(), nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(out.data()), size};
}

// key=value or key="value", separated by commas.
std::string directive(std::string_view all, std::string_view key) {
  while (!all.empty()) {
    const auto equals = all.find('=');
    if (equals == all.npos) return {};
    auto name = all.substr(0, equals);
    while (!name.empty() && (name.front() == ' ' || name.front() == ',')) name.remove_prefix(1);
    all.remove_prefix(equals + 1);
    const bool quoted = !all.empty() && all.front() == '"';
    if (quoted) all.remove_prefix(1);
    const auto end = std::min(all.find(quoted ? '"' : ','), all.size());
    const auto value = all.substr(0, end);
    all.remove_prefix(std::min(all.size(), end + 1));
    if (name == key) return std::string{value};
  }
  return {};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

digest_md5::digest_md5(std::string user, std::string password, std::string_view)
    : user_(std::move(user)), password_(std::move(password)) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) == 1)
    nonce_ = core::to_hex(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::optional<std::string> digest_md5::answer(std::string_view challenge) {
  if (expected_.empty()) return respond(challenge);
  if (directive(challenge, "rspauth") != expected_) return std::nullopt;
  proven_ = true;
  return std::string{};
}

std::optional<std::string> digest_md5::respond(std::string_view challenge) {
  const auto theirs = directive(challenge, "nonce"), realm = directive(challenge, "realm");
  if (theirs.empty() || nonce_.empty()) return std::nullopt;
  const auto uri = std::string{service};
  const auto a1 = md5(user_ + ':' + realm + ':' + password_) + ':' + theirs + ':' + nonce_;
  const auto proof = [&](const std::string& a2) {
    return core::to_hex(
        md5(core::to_hex(md5(a1)) + ':' + theirs + ":00000001:" + nonce_ + ":auth:" + core::to_hex(md5(a2))));
  };
  expected_ = proof(':' + uri);
  return "charset=utf-8,username=" + quoted(user_) + ",realm=" + quoted(realm) + ",nonce=" + quoted(theirs) +
         ",nc=00000001,cnonce=" + quoted(nonce_) + ",digest-uri=" + quoted(uri) +
         ",maxbuf=65536,response=" + proof("AUTHENTICATE:" + uri) + ",qop=auth";
}

}  // namespace tyer::zookeeper::wire
