#include "help/page.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace cli {

namespace {

std::vector<std::string> paragraphs(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = text.find("\n\n");
    all.emplace_back(text.substr(0, end));
    text = end == text.npos ? std::string_view{} : text.substr(end + 2);
  }
  return all;
}

// CLI11 writes the allowed values after the type: TEXT:{auto,always,never}
std::vector<std::string> choices_in(std::string_view type) {
  std::vector<std::string> all;
  const auto open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos || close < open) return all;
  for (auto list = type.substr(open + 1, close - open - 1); !list.empty();) {
    const auto comma = list.find(',');
    all.emplace_back(list.substr(0, comma));
    list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
  }
  return all;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

std::string text_of(const CLI::Option& o) {
  const auto usual = o.get_default_str();
  const bool must = o.nonpositional() && o.get_required();
  return o.get_description() + (must ? " (required)" : usual.empty() ? "" : " (default " + usual + ")");
}

page::item item_of(const CLI::Option& o) {
  page::item i;
  i.text = text_of(o);
  const std::string type = o.get_type_name();
  i.choices = choices_in(type);
  if (!o.nonpositional()) {
    i.names = {o.get_name(true)};
    return i;
  }
  for (const auto& n : o.get_snames()) i.names.push_back("-" + n);
  for (const auto& n : o.get_lnames()) i.names.push_back("--" + n);
  if (o.get_items_expected_max() > 0) i.value = i.choices.empty() ? type : joined(i.choices, "|");
  return i;
}

void add_options(const CLI::App& app, std::vector<page::item>& options, std::vector<page::item>* arguments) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_group().empty()) continue;  // hidden
    if (!o->nonpositional() && arguments != nullptr) {
      arguments->push_back(item_of(*o));
    } else if (o->nonpositional()) {
      options.push_back(item_of(*o));
    }
  }
}

std::string usage_of(const CLI::App& app) {
  std::string text = "[OPTION]...";
  for (const CLI::Option* o : app.get_options()) {
    if (o->nonpositional()) {
      if (o->get_required()) text += ' ' + item_of(*o).head();
      continue;
    }
    const std::string word = o->get_name(true) + (o->get_items_expected_max() > 1 ? "..." : "");
    text += o->get_required() ? ' ' + word : " [" + word + ']';
  }
  return text;
}

std::vector<page::item> codes() {
  std::vector<page::item> all;
  for (const auto& [code, words] : exit_code_meanings) {
    all.push_back({{std::to_string(static_cast<int>(code))}, {}, {}, std::string{words}});
  }
  return all;
}

page page_of(const CLI::App& root, const command& c) {
  const CLI::App& app = *root.get_subcommand(c.name);
  page p;
  p.name = c.name;
  p.title = "tyer " + c.name;
  p.summary = c.summary;
  p.usage = c.usage.empty() ? usage_of(app) : c.usage;
  p.details = paragraphs(c.details);
  p.examples = c.examples;
  p.codes = codes();
  add_options(app, p.options, &p.arguments);
  add_options(root, p.common, nullptr);
  return p;
}

}  // namespace

std::string page::item::head() const { return joined(names, ", ") + (value.empty() ? "" : ' ' + value); }

const page* manual::find(std::string_view command) const noexcept {
  const auto at = std::ranges::find(commands, command, &page::name);
  return at == commands.end() ? nullptr : &*at;
}

manual make_manual(const CLI::App& root, const std::vector<command>& commands) {
  manual m;
  m.overview.title = "tyer";
  m.overview.summary = root.get_description();
  m.overview.usage = "[OPTION]... COMMAND ...";
  m.overview.details = paragraphs(root.get_footer());
  m.overview.codes = codes();
  add_options(root, m.overview.common, nullptr);
  for (const auto& c : commands) {
    m.overview.commands.push_back({{c.name}, {}, {}, c.summary});
    m.commands.push_back(page_of(root, c));
  }
  return m;
}

}  // namespace cli
