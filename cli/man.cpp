// tyer man: the manual pages, made from what --help says.
#include "base/option.hpp"
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "guard/child.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace cli {

namespace {

struct options {
  std::string about, into;
};

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  out.close();
  if (!out) throw trouble(exit_code::failed, "cannot write " + file.string());
}

exit_code write_all(const manual& pages, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write(folder / "tyer.1", as_roff(pages.overview, pages));
  for (const auto& p : pages.commands) write(folder / ("tyer-" + p.name + ".1"), as_roff(p, pages));
  return exit_code::ok;
}

// False: there is no man(1), or it could not show the page.
bool shown_by_man(const std::string& page) {
  if (cannot_start("man") != 0) return false;
  std::FILE* const reader = ::popen("man -l -", "w");
  if (reader == nullptr) return false;
  std::signal(SIGPIPE, SIG_IGN);  // it may end before it has read all
  std::fwrite(page.data(), 1, page.size(), reader);
  return ::pclose(reader) == 0;
}

exit_code man(session& s, const options& o) {
  if (!o.into.empty()) return write_all(s.pages(), o.into);
  const page* p = o.about.empty() ? &s.pages().overview : s.pages().find(o.about);
  if (p == nullptr) throw trouble(exit_code::usage, "there is no command " + o.about, "See `tyer --help`.");
  const auto text = as_roff(*p, s.pages());
  if (!s.screen().out_is_terminal() || !shown_by_man(text)) std::cout << text;
  return exit_code::ok;
}

}  // namespace

command man_command() {
  return {.name = "man",
          .summary = "Show a manual page",
          .details = "On a terminal man(1) shows it; in a pipe, or without man(1), the source of the page is printed.",
          .examples = {{"tyer man show", "the page about show"},
                       {"tyer man --all ~/.local/share/man/man1", "installs all pages"}},
          .prepare = [](CLI::App& app) -> action {
            auto o = std::make_shared<options>();
            add_option(app, "COMMAND", o->about, "About this command; default: about all of them");
            add_option(app, "--all", o->into, "Write all pages to this folder").takes("FOLDER");
            return [o](session& s) { return man(s, *o); };
          }};
}

}  // namespace cli
