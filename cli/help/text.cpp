// A page as --help prints it.
#include "help/page.hpp"
#include "text/plain.hpp"
#include "text/wrap.hpp"

#include <algorithm>

namespace cli {

namespace {

// A paragraph that is indented is printed as it is.
std::string paragraph(const std::string& text, int width) {
  return text.starts_with(' ') ? text : wrapped(text, width, 0, 0);
}

void section(std::string& out, std::string_view title, const std::vector<page::item>& items, int width) {
  constexpr int text_at_max = 26;
  if (items.empty()) return;
  int widest = 0;
  for (const auto& i : items) widest = std::max(widest, columns(i.head()));
  const int text_at = std::min(widest + 4, text_at_max);
  out += '\n' + std::string{title} + ":\n";
  for (const auto& i : items) {
    const std::string head = "  " + i.head();
    const int used = columns(head);
    out += head;
    out += used + 2 > text_at ? '\n' + std::string(static_cast<std::size_t>(text_at), ' ')
                              : std::string(static_cast<std::size_t>(text_at - used), ' ');
    out += wrapped(i.text, width, text_at, text_at) + '\n';
  }
}

}  // namespace

std::string as_text(const page& p, int width) {
  width = std::min(width, 100);
  std::string out = "Usage: " + p.title + ' ' + p.usage + "\n\n" + wrapped(p.summary + '.', width, 0, 0) + '\n';
  for (const auto& d : p.details) out += '\n' + paragraph(d, width) + '\n';
  section(out, "Commands", p.commands, width);
  section(out, "Arguments", p.arguments, width);
  section(out, "Options", p.options, width);
  section(out, p.name.empty() ? "Options" : "Options of every command", p.common, width);
  section(out, "Exit codes", p.codes, width);
  if (!p.examples.empty()) out += "\nExamples:\n";
  for (const auto& e : p.examples) out += "  " + e.line + "\n      " + wrapped(e.what, width, 6, 6) + '\n';
  if (p.name.empty()) out += "\n`tyer COMMAND --help` says more; `tyer man COMMAND` is its manual page.\n";
  return out;
}

}  // namespace cli
