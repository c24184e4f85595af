// `tyer`: distributed locks from the shell.
#include "base/arguments.hpp"
#include "base/command.hpp"
#include "base/inherited_signals.hpp"
#include "base/secrets.hpp"
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "help/page.hpp"
#include "text/duration.hpp"
#include "text/plain.hpp"

#include <tyer/error.hpp>
#include <tyer/version.hpp>

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <iostream>
#include <map>

namespace cli {

namespace {

constexpr const char* about = "Distributed locks for programs, cron jobs and people at a shell";

constexpr const char* more =
    "The engine is named by --url, by TYER_URL in the environment, or in a configuration file (your own, then the "
    "machine's); `tyer config init` writes one:\n\n"
    "  # ~/.config/tyer/config, /etc/tyer/config\n"
    "  url = redis://127.0.0.1:6379\n"
    "  prefix = shop:\n"
    "  url.prod = rediss://locks.example.net   # tyer --url prod ls\n\n"
    "A name of a lock is any text. Control characters in names and messages are shown escaped. Durations are written "
    "like 500ms, 30s, 5m, 2h.";

void add_common(CLI::App& app, common_options& o) {
  app.add_option("--url", o.engine.url,
                 "The engine, as redis://HOST:PORT, or its name in the configuration file; default: TYER_URL")
      ->type_name("URL");
  app.add_option("--prefix", o.engine.prefix,
                 "Put before every name at the engine; default: the prefix in the URL, "
                 "or tyer:")
      ->type_name("TEXT");
  app.add_option("--config", o.engine.config, "Read this instead of ~/.config/tyer/config and /etc/tyer/config")
      ->type_name("FILE");
  app.add_flag("--json", o.json, "Print JSON (see docs/schemas): one object, or one per line for continuous output");
  app.add_option("--color", o.colour, "When to use colours; NO_COLOR in the environment means never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->default_str("auto");
  add_duration(app, "--connect-timeout", o.connect_timeout, "How long to wait for the first answer of the engine (6s)");
}

// To stderr, in one form: what is wrong, and what to do about it.
exit_code complain(exit_code code, std::string_view what, std::string_view advice = {}) {
  std::cerr << "tyer: " << plain(what) << '\n';
  if (!advice.empty()) std::cerr << advice << '\n';
  return code;
}

exit_code complain(const trouble& t) { return complain(t.code(), t.what(), t.advice()); }

std::string called(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) return "tyer " + sub->get_name();
  return "tyer";
}

exit_code show_help(const CLI::App& app, const manual& pages) {
  for (const CLI::App* sub : app.get_subcommands()) {
    if (const page* p = pages.find(sub->get_name())) {
      std::cout << as_text(*p, terminal{}.width());
      return exit_code::ok;
    }
  }
  std::cout << as_text(pages.overview, terminal{}.width());
  return exit_code::ok;
}

exit_code carry_out(const action& what, session& s) {
  try {
    return what(s);
  } catch (const trouble& t) {
    return complain(t);
  } catch (const tyer::error& e) {
    return complain(trouble_of(tyer::failure{e.code(), e.words()}));
  } catch (const std::exception& e) {
    return complain(exit_code::failed, e.what());
  }
}

exit_code run(int argc, char** argv) {
  CLI::App app{about, "tyer"};
  app.footer(more);
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  common_options options;
  add_common(app, options);

  std::map<const CLI::App*, action> actions;
  const auto commands = all_commands();
  for (const auto& c : commands) {
    CLI::App* sub = app.add_subcommand(c.name, c.summary);
    sub->set_help_flag();  // none of its own: --help after the command is handled by tyer itself
    sub->fallthrough();
    actions[sub] = c.prepare(*sub);
  }
  const auto pages = make_manual(app, commands);

  arguments words;
  try {
    if (argc == 1) return std::cerr << as_text(pages.overview, 80), exit_code::usage;
    words = sort_arguments(app, argc, argv);
    std::ranges::reverse(words.own);  // as the parser wants them
    app.parse(std::move(words.own));
  } catch (const CLI::CallForHelp&) {
    return show_help(app, pages);
  } catch (const trouble& t) {
    return complain(t.code(), without_urls(t.what(), argc, argv), t.advice());
  } catch (const CLI::ParseError& e) {
    return complain(exit_code::usage, without_urls(e.what(), argc, argv), "See `" + called(app) + " --help`.");
  }
  session s{options, pages, std::move(words.command)};
  return carry_out(actions.at(app.get_subcommands().front()), s);
}

}  // namespace

// Whatever is opened first would be what we print to: words for people would go to a socket. The other way round each, so that using
// one fails as if it were closed; a command that is run has them closed, as we had.
void take_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

// Option structs only ever grow, but a program must not be newer than its library.
bool wrong_library() {
  const std::string mine = std::to_string(TYER_VERSION_MAJOR) + '.' + std::to_string(TYER_VERSION_MINOR) + '.' +
                           std::to_string(TYER_VERSION_PATCH);
  if (tyer::library_version() == mine) return false;
  std::cerr << "tyer: this is tyer " << mine << ", but the libtyer it found is " << tyer::library_version()
            << "\n"
               "Install both in the same version; `ldd $(command -v tyer)` shows which library that is.\n";
  return true;
}

}  // namespace cli

int main(int argc, char** argv) {
  cli::take_closed_descriptors();
  if (cli::wrong_library()) return static_cast<int>(cli::exit_code::failed);
  std::setlocale(LC_CTYPE, "C.UTF-8");  // the output is UTF-8, whatever the locale says
  cli::take_signals_over();
  const int code = static_cast<int>(cli::run(argc, argv));
  std::cout.flush();
  if (std::cout.good()) return code;
  std::cerr << "tyer: the output could not be written\n";
  return static_cast<int>(cli::exit_code::failed);
}
