#include "base/settings.hpp"

#include "base/secrets.hpp"
#include "base/trouble.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string default_path() {
  if (auto base = environment("XDG_CONFIG_HOME"); !base.empty()) return base + "/tyer/config";
  if (auto home = environment("HOME"); !home.empty()) return home + "/.config/tyer/config";
  return {};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_key(std::string_view key) {
  return key == "url" || key == "prefix" || (key.starts_with("url.") && key.size() > 4);
}

// A file that was named must be there; the usual one need not.
std::map<std::string, std::string> read_file(const std::string& named) {
  const std::string path = named.empty() ? default_path() : named;
  std::ifstream file{path};
  if (!file) {
    if (named.empty()) return {};
    throw trouble(exit_code::usage,
                  "cannot read the configuration file " + (path.find('@') == path.npos ? path : shown_url(path)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return read_config(text.str(), path);
}

std::string resolved(const std::string& url, const std::map<std::string, std::string>& config) {
  if (url.empty() || url.find("://") != url.npos) return url;
  if (const auto at = config.find("url." + url); at != config.end()) return at->second;
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
    // The value is not shown: it may have a password in it.
    const std::string where = path + " line " + std::to_string(number) + ": ";
    if (equals == line.npos) throw trouble(exit_code::usage, where + "expected name = value");
    if (!is_key(key)) {
      throw trouble(exit_code::usage, where + "unknown name '" + shown_url(key) + "'",
                    "Known are url, url.NAME and prefix.");
    }
    auto value = trimmed(line.substr(equals + 1));
    if (const auto comment = value.find(" #"); comment != value.npos) value = trimmed(value.substr(0, comment));
    found.insert_or_assign(std::string{key}, std::string{value});
  }
  return found;
}

settings find_settings(const given& options) {
  const auto config = read_file(options.config);
  const auto in_config = [&](const char* key) {
    const auto at = config.find(key);
    return at == config.end() ? std::string{} : at->second;
  };
  std::string url = options.url, source = "--url";
  if (url.empty()) url = environment("TYER_URL"), source = "TYER_URL";
  if (url.empty()) url = in_config("url"), source = "the configuration file";
  auto meant = resolved(url, config);
  if (meant != url) source = "url." + url + " in the configuration file";
  return {std::move(meant), options.prefix.empty() ? in_config("prefix") : options.prefix, std::move(source)};
}

}  // namespace cli
