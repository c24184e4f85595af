// tyer man: the manual pages, made from what --help says.
#include "base/option.hpp"
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"

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

exit_code man(session& s, const options& o) {
  if (!o.into.empty()) return write_all(s.pages(), o.into);
  const page* p = o.about.empty() ? &s.pages().overview : s.pages().find(o.about);
  if (p == nullptr) throw trouble(exit_code::usage, "there is no command " + o.about, "See `tyer --help`.");
  std::cout << as_roff(*p, s.pages());
  return exit_code::ok;
}

}  // namespace

command man_command() {
  return {.name = "man",
          .summary = "Print a manual page, for man(1)",
          .examples = {{"tyer man show | man -l -", "reads the page about show"},
                       {"tyer man --all ~/.local/share/man/man1", "installs all pages"}},
          .prepare = [](CLI::App& app) -> action {
            auto o = std::make_shared<options>();
            add_option(app, "COMMAND", o->about, "About this command; default: about all of them");
            add_option(app, "--all", o->into, "Write all pages to this folder").takes("FOLDER");
            return [o](session& s) { return man(s, *o); };
          }};
}

}  // namespace cli
