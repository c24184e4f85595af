// A page as man(1) reads it, in the macros of man(7).
#include "help/page.hpp"
#include "text/wrap.hpp"

#include <tyer/version.hpp>

#include <algorithm>

namespace cli {

namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Escapes text so that it is no roff request, and so that hyphens can be copied.
std::string text(std::string_view words) {
  std::string out;
  bool line_begins = true;
  for (const char c : words) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

// The same in lines of a decent length.
std::string filled(std::string_view words) { return text(wrapped(words, 74, 0, 0)); }

std::string bold(std::string_view words) { return "\\fB" + text(words) + "\\fR"; }
std::string italic(std::string_view words) { return "\\fI" + text(words) + "\\fR"; }

std::string head(const page::item& i) {
  std::string out;
  for (const auto& n : i.names) out += (out.empty() ? "" : ", ") + bold(n);
  if (!i.value.empty()) out += ' ' + italic(i.value);
  return out;
}

void section(std::string& out, std::string_view title, const std::vector<page::item>& items) {
  if (items.empty()) return;
  out += ".SH " + std::string{title} + '\n';
  for (const auto& i : items) out += ".TP\n" + head(i) + '\n' + filled(i.text) + '\n';
}

std::string paragraph(const std::string& words) {
  if (!words.starts_with(' ')) return ".PP\n" + filled(words) + '\n';
  return ".PP\n.EX\n" + text(words) + "\n.EE\n";
}

std::string file_name(const page& p) { return p.name.empty() ? "tyer" : "tyer-" + p.name; }

void see_also(std::string& out, const page& p, const manual& all) {
  std::vector<std::string> others;
  if (!p.name.empty()) others.push_back("tyer");
  for (const auto& c : all.commands) {
    if (c.name != p.name) others.push_back("tyer-" + c.name);
  }
  std::ranges::sort(others);
  out += ".SH SEE ALSO\n";
  for (const auto& o : others) out += ".BR " + text(o) + " (1)" + (&o == &others.back() ? "" : ",") + '\n';
}

}  // namespace

std::string as_roff(const page& p, const manual& all) {
  const std::string version{tyer::library_version()};
  std::string out = ".TH " + upper(file_name(p)) + " 1 " TYER_CLI_DATE " \"tyer " + version + "\" \"Tyer\"\n";
  out += ".SH NAME\n" + text(file_name(p)) + " \\- " + text(p.summary) + '\n';
  out += ".SH SYNOPSIS\n" + bold(p.title) + ' ' + text(p.usage) + '\n';
  if (!p.details.empty()) {
    out += ".SH DESCRIPTION\n";
    for (const auto& d : p.details) out += paragraph(d).substr(&d == &p.details.front() && !d.starts_with(' ') ? 4 : 0);
  }
  section(out, "COMMANDS", p.commands);
  section(out, "ARGUMENTS", p.arguments);
  section(out, "OPTIONS", p.options);
  section(out, p.name.empty() ? "OPTIONS" : "OPTIONS OF EVERY COMMAND", p.common);
  section(out, "EXIT STATUS", p.codes);
  if (!p.examples.empty()) out += ".SH EXAMPLES\n";
  for (const auto& e : p.examples) out += ".TP\n" + bold(e.line) + '\n' + filled(e.what) + '\n';
  see_also(out, p, all);
  return out;
}

}  // namespace cli
