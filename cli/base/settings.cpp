#include "base/settings.hpp"

#include "base/secrets.hpp"
#include "base/trouble.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

namespace cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// %41 is A.
std::string decoded(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    unsigned byte = 0;
    const bool coded = text.front() == '%' && text.size() > 2 &&
                       std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr == text.data() + 3;
    out += coded ? static_cast<char>(byte) : text.front();
    if (coded) text.remove_prefix(2);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The value of ?name= in a URL.
std::optional<std::string> option_in(std::string_view url, std::string_view name) {
  const auto query = url.find('?');
  for (auto rest = query == url.npos ? std::string_view{} : url.substr(query + 1); !rest.empty();) {
    const auto end = rest.find('&');
    const auto one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) return decoded(one.substr(name.size() + 1));
  }
  return std::nullopt;
}

bool is_key(std::string_view key) {
  return key == "url" || key == "prefix" || (key.starts_with("url.") && key.size() > 4);
}

struct value {
  std::string text, path;
};
using values = std::map<std::string, value, std::less<>>;

// A file that was named must exist; the default ones need not.
void read_file(const std::string& path, bool named, values& into) {
  std::ifstream file{path};
  if (!file) {
    if (!named) return;
    throw trouble(exit_code::usage,
                  "cannot read the configuration file " + (path.find('@') == path.npos ? path : shown_url(path)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  for (auto& [key, found] : read_config(text.str(), path)) into.insert_or_assign(key, value{std::move(found), path});
}

// The user's own file overrides the machine's, name by name.
values read_files(const std::string& named) {
  values all;
  if (!named.empty()) {
    read_file(named, true, all);
    return all;
  }
  for (const auto& path : {system_config_path(), own_config_path()}) {
    if (!path.empty()) read_file(path, false, all);
  }
  return all;
}

value in(const values& config, std::string_view key) {
  const auto at = config.find(key);
  return at == config.end() ? value{} : at->second;
}

std::string prefix_of(const given& options, const values& config) {
  return options.prefix.empty() ? in(config, "prefix").text : options.prefix;
}

// "127.0.0.1:6379", "locks.example.net:6379": nothing in it can be a password.
bool is_host_and_port(std::string_view text) {
  constexpr std::string_view digits = "0123456789",
                             letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  const auto colon = text.find(':');
  if (colon == 0 || colon == text.npos || colon + 1 == text.size()) return false;
  return text.find_first_not_of(letters) == colon && text.find_first_not_of(digits, colon + 1) == text.npos;
}

// The URL itself, or the URL with that name in the files.
value resolved(const std::string& url, const values& config) {
  if (url.empty() || url.find("://") != url.npos) return {url, {}};
  if (const auto at = config.find("url." + url); at != config.end()) return at->second;
  if (is_host_and_port(url)) {
    throw trouble(exit_code::usage, "'" + url + "' is no URL: the engine is missing",
                  "Did you mean " + std::string{url.ends_with(":2379") ? "etcd://" : "redis://"} + url + "?");
  }
  const auto shown = shown_url(url);
  throw trouble(exit_code::usage, "'" + shown + "' is neither a URL nor a name in the configuration file",
                "A URL looks like redis://127.0.0.1:6379, with :// in it. For a name, write  url." +
                    (shown == url ? url : "NAME") + " = redis://…  into ~/.config/tyer/config");
}

}  // namespace

std::map<std::string, std::string> read_config(std::string_view text, const std::string& path) {
  std::map<std::string, std::string> found;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = trimmed(text.substr(0, end));
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    const auto equals = line.find('=');
    const auto key = trimmed(line.substr(0, equals));
    // The value is not shown: it may contain a password.
    const std::string where = path + " line " + std::to_string(number) + ": ";
    if (equals == line.npos) throw trouble(exit_code::usage, where + "expected name = value");
    if (!is_key(key)) {
      throw trouble(exit_code::usage, where + "unknown name '" + shown_url(key) + "'",
                    "Known names are url, url.NAME and prefix.");
    }
    auto value = trimmed(line.substr(equals + 1));
    if (const auto comment = value.find(" #"); comment != value.npos) value = trimmed(value.substr(0, comment));
    found.insert_or_assign(std::string{key}, std::string{value});
  }
  return found;
}

std::string own_config_path() {
  if (auto base = environment("XDG_CONFIG_HOME"); !base.empty()) return base + "/tyer/config";
  if (auto home = environment("HOME"); !home.empty()) return home + "/.config/tyer/config";
  return {};
}

std::string system_config_path() {
  auto path = environment("TYER_SYSTEM_CONFIG");
  return path.empty() ? "/etc/tyer/config" : path;
}

settings find_settings(const given& options) {
  const auto config = read_files(options.config);
  std::string url = options.url, source = "--url";
  if (url.empty()) url = environment("TYER_URL"), source = "TYER_URL";
  if (url.empty()) {
    const auto found = in(config, "url");
    url = found.text;
    source = "the configuration file " + found.path;
  }
  auto meant = resolved(url, config);
  if (!meant.path.empty()) source = "url." + url + " in the configuration file " + meant.path;
  return {std::move(meant.text), prefix_of(options, config), std::move(source)};
}

settings find_settings_beside(const given& options, const std::string& url, const std::string& option) {
  if (url.empty()) throw empty_value(option);
  const auto config = read_files(options.config);
  auto meant = resolved(url, config);
  const auto source = meant.path.empty() ? option : "url." + url + " in the configuration file " + meant.path;
  const bool has_its_own = option_in(meant.text, "prefix").has_value();
  return {std::move(meant.text), has_its_own ? "" : prefix_of(options, config), source};
}

std::string settings::prefix_in_use() const {
  if (!prefix.empty()) return prefix;
  if (auto in_url = option_in(url, "prefix")) return *in_url;
  return option_in(url, "protocol") ? "" : "tyer:";  // names shared with other libraries have no prefix
}

}  // namespace cli
