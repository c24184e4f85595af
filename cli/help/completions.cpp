#include "help/completions.hpp"

#include <algorithm>

namespace cli {

namespace {

// Names of locks come from the engine; a shell must not wait long for them, and shows no errors.
constexpr const char* names_from_engine = "tyer ls --names --connect-timeout 1s";

bool takes_a_lock(const page& p) {
  return std::ranges::any_of(p.arguments, [](const auto& a) { return a.names.front() == "NAME"; });
}
bool takes_a_prefix(const page& p) {
  return std::ranges::any_of(p.arguments, [](const auto& a) { return a.names.front() == "PREFIX"; });
}
bool takes_a_command(const page& p) {
  return std::ranges::any_of(p.arguments,
                             [](const auto& a) { return a.names.front() == "COMMAND" && a.choices.empty(); });
}

std::vector<page::item> options_of(const page& p) {
  auto all = p.options;
  all.insert(all.end(), p.common.begin(), p.common.end());
  return all;
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

std::vector<std::string> command_names(const manual& m) {
  std::vector<std::string> all;
  for (const auto& p : m.commands) all.push_back(p.name);
  return all;
}

std::vector<std::string> words_of(const std::vector<page::item>& options) {
  std::vector<std::string> all;
  for (const auto& o : options) all.insert(all.end(), o.names.begin(), o.names.end());
  return all;
}

// Inside single quotes of a shell.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out;
}

std::vector<std::string> choices_of(const page& p) {
  for (const auto& a : p.arguments) {
    if (!a.choices.empty()) return a.choices;
  }
  return {};
}

// One case for each option that takes a value: the possible values.
std::string bash_values(const std::vector<page::item>& options) {
  std::string out;
  for (const auto& o : options) {
    if (o.value.empty()) continue;
    out += "    " + joined(o.names, "|") + ") ";
    if (!o.choices.empty()) {
      out += "COMPREPLY=($(compgen -W '" + joined(o.choices) + "' -- \"$cur\"))";
    } else if (o.value == "FILE") {
      out += "COMPREPLY=($(compgen -f -- \"$cur\"))";
    } else if (o.value == "FOLDER") {
      out += "COMPREPLY=($(compgen -d -- \"$cur\"))";
    }
    out += out.ends_with(") ") ? "return ;;\n" : "; return ;;\n";
  }
  return out;
}

std::string bash_arguments(const page& p) {
  if (const auto choices = choices_of(p); !choices.empty()) return "words='" + joined(choices) + "'";
  if (takes_a_lock(p) || takes_a_prefix(p))
    return std::string{"words=$("}.append(names_from_engine).append(" 2>/dev/null)");
  if (takes_a_command(p)) return "words=$commands";
  return "words=";
}

}  // namespace

std::string bash_completions(const manual& m) {
  std::string out = "# bash completion of tyer; made by `tyer completions bash`\n_tyer() {\n";
  out += "  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= i\n";
  out += "  local commands='" + joined(command_names(m)) + "' IFS=$' \\n'\n";
  out += "  for ((i = 1; i < COMP_CWORD; i++)); do\n";
  out += "    [[ ${COMP_WORDS[i]} == -- ]] && { compopt -o default; return; }\n";
  out += "    [[ -z $command && \" $commands \" == *\" ${COMP_WORDS[i]} \"* ]] && command=${COMP_WORDS[i]}\n  done\n";
  out += "  case $before in\n" + bash_values(m.overview.common) + "  esac\n";
  out += "  case $command in\n";
  for (const auto& p : m.commands) {
    out += "  " + p.name + ")\n";
    if (const auto values = bash_values(p.options); !values.empty())
      out += "    case $before in\n" + values + "    esac\n";
    out += "    if [[ $cur == -* ]]; then words='" + joined(words_of(options_of(p))) + "'; else " + bash_arguments(p) +
           "; fi ;;\n";
  }
  out += "  *)\n    if [[ $cur == -* ]]; then words='" + joined(words_of(m.overview.common)) +
         "'; else words=$commands; fi ;;\n  esac\n";
  out += "  IFS=$' \\n' COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _tyer tyer\n";
  return out;
}

namespace {

// Escapes brackets and colons for _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return in_quotes(out);
}

std::string zsh_values(const page::item& i) {
  if (!i.choices.empty()) return "(" + joined(i.choices) + ")";
  if (i.value == "FILE") return "_files";
  if (i.value == "FOLDER") return "_files -/";
  return " ";
}

std::string zsh_option(const page::item& o) {
  std::string out;
  for (const auto& n : o.names) {
    const std::string others = o.names.size() > 1 ? "(" + joined(o.names) + ")" : "";
    out += "      '" + others + n + "[" + zsh_text(o.text) + "]";
    if (!o.value.empty()) out += ":" + zsh_text(o.value) + ":" + zsh_values(o);
    out += "' \\\n";
  }
  return out;
}

std::string zsh_argument(const page& p) {
  if (const auto choices = choices_of(p); !choices.empty()) return "'1:what:(" + joined(choices) + ")'";
  if (takes_a_lock(p) || takes_a_prefix(p)) return "'1:lock:_tyer_locks' '*::command:_normal'";
  if (takes_a_command(p)) return "'1:command:_tyer_commands'";
  return "'*: :'";
}

}  // namespace

std::string zsh_completions(const manual& m) {
  std::string out = "#compdef tyer\n# zsh completion of tyer; made by `tyer completions zsh`\n";
  out += "_tyer_locks() {\n  local -a names=(${(f)\"$(" + std::string{names_from_engine} + " 2>/dev/null)\"})\n" +
         "  compadd -a names\n}\n";
  out += "_tyer_commands() {\n  local -a all=(\n";
  for (const auto& p : m.commands) out += "    '" + p.name + ":" + zsh_text(p.summary) + "'\n";
  out += "  )\n  _describe command all\n}\n";
  out += "_tyer() {\n  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C \\\n";
  for (const auto& o : m.overview.common) out += zsh_option(o);
  out += "      '1:command:_tyer_commands' '*::arg:->rest' && return\n  case $line[1] in\n";
  for (const auto& p : m.commands) {
    out += "  " + p.name + ")\n    _arguments \\\n";
    for (const auto& o : options_of(p)) out += zsh_option(o);
    out += "      " + zsh_argument(p) + " ;;\n";
  }
  out += "  esac\n}\nif [[ $funcstack[1] == _tyer ]]; then _tyer \"$@\"; else compdef _tyer tyer; fi\n";
  return out;
}

namespace {

std::string fish_option(const page::item& o, const std::string& condition) {
  std::string out = "complete -c tyer -n '" + condition + "'";
  for (const auto& n : o.names) out += n.starts_with("--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
  if (!o.value.empty()) out += o.value == "FILE" || o.value == "FOLDER" ? " -r -F" : " -x";
  if (!o.choices.empty()) out += " -a '" + joined(o.choices) + "'";
  return out + " -d '" + in_quotes(o.text) + "'\n";
}

}  // namespace

std::string fish_completions(const manual& m) {
  std::string out = "# fish completion of tyer; made by `tyer completions fish`\ncomplete -c tyer -f\n";
  const std::string all = joined(command_names(m));
  const std::string none = "not __fish_seen_subcommand_from " + all;
  for (const auto& o : m.overview.common) out += fish_option(o, "true");
  for (const auto& p : m.commands) {
    const std::string seen = "__fish_seen_subcommand_from " + p.name;
    out += "complete -c tyer -n '" + none + "' -a " + p.name + " -d '" + in_quotes(p.summary) + "'\n";
    for (const auto& o : p.options) out += fish_option(o, seen);
    std::string words = joined(choices_of(p));
    if (words.empty() && (takes_a_lock(p) || takes_a_prefix(p)))
      words = "(" + std::string{names_from_engine} + " 2>/dev/null)";
    if (words.empty() && takes_a_command(p)) words = all;
    if (!words.empty()) out += "complete -c tyer -n '" + seen + "' -a '" + words + "'\n";
  }
  return out;
}

}  // namespace cli
