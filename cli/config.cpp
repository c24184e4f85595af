// tyer config: which engine is used, and where that is set.
#include "base/no_engine.hpp"
#include "base/option.hpp"
#include "base/secrets.hpp"
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

namespace cli {

namespace {

struct options {
  std::string action;
  bool system = false;
};

bool has_login(const std::string& url) { return url.find('@') != url.npos; }

// The part of the URL that certainly contains no password.
std::string shown(const std::string& url) { return url.find_first_of("@?") == url.npos ? url : shown_url(url); }

std::string text_for(const given& g, const std::string& url) {
  std::string text = "# Used when neither --url nor TYER_URL is given. With a password in it: chmod 600.\n";
  text += url.empty() ? "# url = redis://127.0.0.1:6379\n" : "url = " + url + '\n';
  text += g.prefix.empty() ? "# prefix = shop:\n" : "prefix = " + g.prefix + '\n';
  return text + "# url.prod = rediss://locks.example.net   # tyer --url prod ls\n";
}

[[noreturn]] void cannot_write(const std::string& path) {
  throw trouble(exit_code::failed, "cannot write " + path + ": " + std::strerror(errno));
}

// Never overwrites a file.
void write_new(const std::string& path, const std::string& text, mode_t mode) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), ignored);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0 && errno == EEXIST)
    throw trouble(exit_code::usage, path + " exists already", "Edit it, or move it away first.");
  if (fd < 0) cannot_write(path);
  const auto written = ::write(fd, text.data(), text.size());
  const bool closed = ::close(fd) == 0;
  if (written != static_cast<ssize_t>(text.size()) || !closed) cannot_write(path);
}

exit_code init(session& s, const options& o) {
  const auto& g = s.engine();
  const char* in_environment = std::getenv("TYER_URL");
  const std::string url = !g.url.empty() ? g.url : in_environment == nullptr ? "" : in_environment;
  if (!url.empty() && url.find("://") == url.npos)
    throw trouble(exit_code::usage, named(shown_url(url)) + " is not a URL", "Write it in full: redis://HOST:PORT");
  const std::string path = !g.config.empty() ? g.config : o.system ? system_config_path() : own_config_path();
  if (path.empty()) throw trouble(exit_code::failed, "HOME is not set", "Name the file: --config FILE");
  const bool for_all = o.system && !has_login(url);  // cron jobs of every user read it
  write_new(path, text_for(g, url), for_all ? S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH : S_IRUSR | S_IWUSR);
  if (s.json()) {
    print({{"written", text_json(path)}});
  } else {
    std::cout << path << " was written" << (url.empty() ? ", without an engine" : ", with " + plain(shown(url)))
              << '\n';
    if (url.empty())
      std::cout
          << "Put its URL into the line that begins with \"# url =\", without the #; then check it: tyer doctor\n";
    if (o.system && !for_all) std::cout << "It contains a login, so only this user can read it.\n";
    if (!url.empty()) std::cout << "Check the engine: tyer doctor\n";
  }
  return exit_code::ok;
}

bool is_there(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

exit_code show(session& s) {
  const auto found = find_settings(s.engine());
  if (s.json()) {
    json j = {{"url", found.url.empty() ? json(nullptr) : text_json(shown(found.url))},
              {"source", found.url.empty() ? json(nullptr) : text_json(found.source)},
              {"prefix", text_json(found.prefix_in_use())},
              {"files", json::array()}};
    for (const auto& path : {own_config_path(), system_config_path()}) {
      if (!path.empty()) j["files"].push_back({{"path", text_json(path)}, {"there", is_there(path)}});
    }
    print(j);
    return exit_code::ok;
  }
  std::cout << "url     "
            << (found.url.empty() ? "not said" : plain(shown(found.url)) + "  (" + plain(found.source) + ')')
            << "\nprefix  " << plain(found.prefix_in_use()) << '\n';
  for (const auto& path : {own_config_path(), system_config_path()}) {
    if (!path.empty()) std::cout << "file    " << plain(path) << (is_there(path) ? "" : "  (not there)") << '\n';
  }
  if (found.url.empty()) {
    std::cout << '\n' << no_engine().advice() << '\n';
  } else if (const auto note = note_on_tyer_uri(); !note.empty() && found.source != "TYER_URL") {
    std::cout << "note    " << note << '\n';
  }
  return exit_code::ok;
}

}  // namespace

command config_command() {
  return {
      .name = "config",
      .summary = "Write a configuration file, or show which engine is used and why",
      .details =
          "init writes the file with the URL of --url or TYER_URL, and with --prefix, if they are given; it never "
          "changes an existing file. It is your own file (~/.config/tyer/config), or with --system that of the "
          "machine (/etc/tyer/config), which cron and systemd jobs use too: if its URL contains no login, all users "
          "can read it. TYER_SYSTEM_CONFIG in the environment names another place for the latter.\n\n"
          "show prints the settings in force, where each comes from, and where files are searched. Passwords are not "
          "shown.\n\n"
          "--url overrides TYER_URL, which overrides your own file, which overrides the machine's, setting by setting.",
      .examples = {{"tyer --url redis://127.0.0.1:6379 config init", "for you"},
                   {"sudo tyer --url redis://locks:6379 --prefix shop: config init --system", "for cron, too"},
                   {"tyer config show", "why it uses this engine"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "ACTION", o->action, "What to do").required().one_of({"init", "show"});
        add_flag(app, "--system", o->system, "The file of the machine, /etc/tyer/config");
        return [o](session& s) { return o->action == "init" ? init(s, *o) : show(s); };
      }};
}

}  // namespace cli
