// Which engine: --url, else TYER_URL, else the configuration file.
//
//   # ~/.config/tyer/config
//   url = redis://127.0.0.1:6379
//   prefix = shop:
//   url.prod = rediss://locks.example.net      # tyer --url prod ls
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cli {

struct settings {
  std::string url;     // empty: nobody has said it
  std::string prefix;  // empty: the engine's own
  std::string source;  // of the URL, for messages: "--url", "TYER_URL", "the configuration file"
};

struct given {  // on the command line; empty where it was not
  std::string url, prefix, config;
};

// `name = value` lines; throws trouble that names the line.
std::map<std::string, std::string> read_config(std::string_view text, const std::string& path);

// Looks at the environment and at the file. Throws trouble.
settings find_settings(const given& options);

}  // namespace cli
