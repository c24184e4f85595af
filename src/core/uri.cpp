#include "core/uri.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

namespace tyer::core {

namespace {

failure wrong(std::string words) { return {errc::invalid_uri, std::move(words)}; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

// Cuts text at the first `mark`: returns the part before it and leaves the part after it. No mark: takes all.
std::string_view cut(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  const auto head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

failure parse_scheme(std::string_view& text, uri& u) {
  const auto at = text.find("://");
  if (at == std::string_view::npos || at == 0) return wrong("it must begin with a scheme, like redis://");
  for (const char c : text.substr(0, at)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!letter) return wrong("the scheme before :// has a character that is not a small letter, a digit, +, - or .");
  }
  u.scheme = std::string{text.substr(0, at)};
  text.remove_prefix(at + 3);
  return {};
}

failure parse_userinfo(std::string_view& authority, uri& u) {
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  auto info = authority.substr(0, at);
  authority.remove_prefix(at + 1);
  const bool has_password = info.find(':') != std::string_view::npos;
  if (!decode(cut(info, ':'), u.user)) return wrong("the user has a % that is not followed by two hex digits");
  if (has_password && !decode(info, u.password)) {
    return wrong("the password has a % that is not followed by two hex digits");
  }
  return {};
}

failure parse_port(std::string_view text, endpoint& e) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0 || port > 65535) {
    return wrong("the port must be a number from 1 to 65535 (a password with @ : / ? # or % must be percent-encoded)");
  }
  e.port = static_cast<std::uint16_t>(port);
  return {};
}

failure parse_host(std::string_view text, uri& u) {
  endpoint e;
  std::string_view port;
  if (text.starts_with('[')) {  // an IPv6 address
    const auto end = text.find(']');
    if (end == std::string_view::npos) return wrong("an IPv6 address must end with ]");
    e.host = std::string{text.substr(1, end - 1)};
    text.remove_prefix(end + 1);
    if (!text.empty() && !text.starts_with(':')) return wrong("after ] only :port may follow");
    port = text.empty() ? text : text.substr(1);
    if (!text.empty() && port.empty()) return wrong("the port after : is missing");
  } else {
    const bool has_port = text.find(':') != std::string_view::npos;
    e.host = std::string{cut(text, ':')};
    port = text;
    if (has_port && port.empty()) return wrong("the port after : is missing");
  }
  if (e.host.empty()) return wrong("a host name is missing");
  if (!port.empty()) {
    if (auto f = parse_port(port, e)) return f;
  }
  u.hosts.push_back(std::move(e));
  return {};
}

failure parse_query(std::string_view text, uri& u) {
  while (!text.empty()) {
    auto value = cut(text, '&');
    std::pair<std::string, std::string> item;
    if (!decode(cut(value, '='), item.first) || !decode(value, item.second)) {
      return wrong("the query has a % that is not followed by two hex digits");
    }
    if (item.first.empty()) return wrong("the query must be key=value, joined by &");
    u.query.push_back(std::move(item));
  }
  return {};
}

// A / ? or # in a password ends the authority too early: then pieces of the password would be taken for host, port, path or
// option, and shown. Such a URI still has the @ after the password, and is recognised by it.
failure refuse_cut_password(std::string_view text) {
  const auto end = text.find_first_of("/?#");
  if (end == std::string_view::npos || text.find('@', end) == std::string_view::npos) return {};
  return wrong(
      "there is an @ after the host: a password with @ : / ? # or % must be percent-encoded, and so must an @ in "
      "path or query (%40)");
}

// A newline at the end of a file, or an extra space, would become part of a host or a prefix, and so name locks that nobody
// else uses.
failure refuse_blanks(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  if (std::ranges::none_of(text, blank)) return {};
  return wrong("it contains a space, a newline or another control character, which must be percent-encoded (%20)");
}

failure parse_into(std::string_view text, uri& u) {
  if (text.find('\0') != std::string_view::npos) return wrong("it has a NUL byte");
  if (auto f = refuse_blanks(text)) return f;
  if (auto f = parse_scheme(text, u)) return f;
  if (auto f = refuse_cut_password(text)) return f;
  if (text.find('#') != std::string_view::npos)
    return wrong("a fragment (#...) is not supported: a # that belongs to a value must be percent-encoded (%23)");
  auto before_query = cut(text, '?');
  if (auto f = parse_query(text, u)) return f;
  auto authority = cut(before_query, '/');
  if (!decode(before_query, u.path)) return wrong("the path has a % that is not followed by two hex digits");
  if (auto f = parse_userinfo(authority, u)) return f;
  if (authority.empty()) return {};
  bool more = true;
  while (more) {
    more = authority.find(',') != std::string_view::npos;
    if (auto f = parse_host(cut(authority, ','), u)) return f;
  }
  return {};
}

// Of the many forms of an IPv6 address one, and of a name the one in small letters.
std::string in_one_form(std::string host) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  in6_addr raw{};
  if (::inet_pton(AF_INET6, host.c_str(), &raw) == 1 &&
      ::inet_ntop(AF_INET6, &raw, text.data(), text.size()) != nullptr)
    return text.data();
  for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return host;
}

}  // namespace

std::optional<std::string> uri::take(std::string_view key) {
  if (std::ranges::find(known, key) == known.end()) known.emplace_back(key);
  const auto at = std::find_if(query.begin(), query.end(), [&](const auto& item) { return item.first == key; });
  if (at == query.end()) return std::nullopt;
  auto value = std::move(at->second);
  query.erase(at);
  return value;
}

std::optional<std::string> uri::find(std::string_view key) const {
  const auto at = std::find_if(query.begin(), query.end(), [&](const auto& item) { return item.first == key; });
  return at == query.end() ? std::nullopt : std::optional{at->second};
}

std::string uri::shown() const {
  std::string text = scheme + "://";
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (i > 0) text += ',';
    const bool v6 = hosts[i].host.find(':') != std::string::npos;
    text += v6 ? '[' + hosts[i].host + ']' : hosts[i].host;
    if (hosts[i].port != 0) text += ':' + std::to_string(hosts[i].port);
  }
  return text;
}

std::string uri::place() const {
  uri same = *this;
  for (auto& e : same.hosts) e.host = in_one_form(std::move(e.host));
  std::ranges::sort(same.hosts, {}, [](const endpoint& e) { return std::tie(e.host, e.port); });
  return same.shown() + '/' + path;
}

parsed_uri parse_uri(std::string_view text) {
  parsed_uri p;
  p.error = parse_into(text, p.value);
  if (p.error) p.value = {};
  return p;
}

}  // namespace tyer::core
