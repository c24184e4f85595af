// Selects the engine: --url, else TYER_URL, else the configuration files: the user's own, then the machine's for names that
// it does not have.
//
//   # ~/.config/tyer/config, /etc/tyer/config
//   url = redis://127.0.0.1:6379
//   prefix = shop:
//   url.prod = rediss://locks.example.net      # tyer --url prod ls
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cli {

struct settings {
  std::string url;     // empty: not given
  std::string prefix;  // empty: the engine's own
  std::string source;  // of the URL, for messages: "--url", "TYER_URL", "the configuration file /etc/tyer/config"

  // The prefix of every name, also if none was given: by the same rule as in the library.
  std::string prefix_in_use() const;
};

struct given {  // on the command line; empty if not given
  std::string url, prefix, config;
};

// `name = value` lines; throws trouble that names the line.
std::map<std::string, std::string> read_config(std::string_view text, const std::string& path);

// Looks at the environment and at the files. Throws trouble.
settings find_settings(const given& options);

// Of another engine beside it, whose URL, or name in the files, was given with that option. Its names have the same prefix,
// unless its own URL has one.
settings find_settings_beside(const given& options, const std::string& url, const std::string& option);

// The paths of the files, which need not exist. Empty: there is no such path, for example without HOME.
std::string own_config_path();
std::string system_config_path();  // TYER_SYSTEM_CONFIG in the environment overrides it

}  // namespace cli
