#include "base/arguments.hpp"

#include "base/spelling.hpp"
#include "base/trouble.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace cli {

namespace {

constexpr const char* end_of_options = "--";

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-' && word != end_of_options; }

// The option without its value: "--wait" of "--wait=5s".
std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

// Text after a short option may be its value, perhaps a secret: "-p" of "-psecret".
std::string shown_name(const std::string& name) { return name.starts_with("--") ? name : name.substr(0, 2); }

std::string title_of(const CLI::App* command) { return command == nullptr ? "tyer" : "tyer " + command->get_name(); }

std::string quoted(const std::string& text) { return '`' + text + '`'; }

// What flock and our own other commands call an option, if it is among the known: "--timeout" for --wait.
std::string option_elsewhere(const std::string& typed, const std::vector<std::string>& known) {
  for (const auto& [elsewhere, here] :
       {std::pair{"--timeout", "--wait"}, {"--wait", "--timeout"}, {"--nb", "--nonblock"}}) {
    if (elsewhere == typed && std::ranges::find(known, here) != known.end()) return here;
  }
  return {};
}

void add_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* o : app.get_options()) {
    for (const auto& n : o->get_lnames()) names.push_back("--" + n);
  }
}

class sorter {
 public:
  sorter(const CLI::App& root, int argc, const char* const* argv) : root_(root), words_(argv + 1, argv + argc) {}

  arguments sorted() && {
    while (at_ < words_.size() && !done_) {
      const std::string& word = words_[at_++];
      if (word == end_of_options) {
        take_mark();
      } else if (is_option(word)) {
        take_option(word);
      } else {
        take_word(word);
      }
    }
    if (!plain_.empty()) {
      found_.own.emplace_back(end_of_options);
      std::ranges::move(plain_, std::back_inserter(found_.own));
    }
    return std::move(found_);
  }

 private:
  bool runs_another() const {
    const CLI::Option* o = command_->get_option_no_throw("COMMAND");
    return o != nullptr && o->get_items_expected_max() > 1;
  }

  std::size_t plain_max() const {
    std::size_t sum = 0;
    for (const CLI::Option* o : command_->get_options()) {
      if (!o->nonpositional()) sum += static_cast<std::size_t>(o->get_items_expected_max());
    }
    return sum;
  }

  void take_mark() {
    if (command_ == nullptr) throw unknown_command(end_of_options);
    if (!runs_another()) {
      while (at_ < words_.size()) take_word(words_[at_++]);
    } else if (!plain_.empty()) {
      rest_is_command();
    } else {
      take_name_with_a_dash();
    }
  }

  // `tyer run -- -x -- make`: no command begins with a dash, so -x is the NAME.
  void take_name_with_a_dash() {
    const bool meant = at_ + 1 < words_.size() && is_option(words_[at_]) && words_[at_ + 1] == end_of_options;
    if (!meant) {
      throw trouble(exit_code::usage, "NAME is missing before `--`",
                    "Name the lock: " + title_of(command_) + " NAME -- COMMAND…");
    }
    plain_.push_back(words_[at_]);
    at_ += 2;
    rest_is_command();
  }

  void take_option(const std::string& word) {
    if ((word == "--version" || word == "-V") && command_ == nullptr) return take_command("version");
    if (!word.starts_with("--")) return take_letters(word);
    const auto name = name_in(word);
    const CLI::Option* o = find(name);
    if (o == nullptr) throw unknown_option(name);
    if (!has_value(*o)) return take_flag(*o, word);
    take_value(*o, name, name == word ? value_of(name) : word.substr(name.size() + 1));
  }

  // "-n", "-nE75", "-w5s": flags in one word, and behind the last option its value, as getopt(3) has it; or "-w=5s".
  void take_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size() && !done_; ++i) {
      const std::string name{'-', word[i]};
      const CLI::Option* o = find(name);
      if (o == nullptr) throw unknown_option(i == 1 ? name_in(word) : name);
      if (has_value(*o)) {
        const auto value = word.substr(word.compare(i + 1, 1, "=") == 0 ? i + 2 : i + 1);
        return take_value(*o, name, i + 1 == word.size() ? value_of(name) : value);
      }
      take_flag(*o, name);
    }
  }

  const CLI::Option* find(const std::string& name) const {
    const CLI::Option* o = command_ == nullptr ? nullptr : command_->get_option_no_throw(name);
    return o != nullptr ? o : root_.get_option_no_throw(name);
  }

  static bool has_value(const CLI::Option& o) { return o.get_items_expected_max() != 0; }

  void take_flag(const CLI::Option& o, const std::string& word) {
    found_.own.push_back(word);
    done_ = &o == root_.get_help_ptr();
  }

  // Always as two words: the parser would take the next word for an empty value.
  void take_value(const CLI::Option& o, const std::string& name, std::string value) {
    if (value.empty() && &o == root_.get_option_no_throw(name)) throw empty_value(name);
    found_.own.push_back(name);
    found_.own.push_back(std::move(value));
  }

  std::string value_of(const std::string& option) {
    if (at_ < words_.size() && words_[at_] != end_of_options) return words_[at_++];
    throw trouble(exit_code::usage, option + " needs a value", see_help());
  }

  void take_word(const std::string& word) {
    if (command_ == nullptr) return take_command(word);
    if (runs_another() && !plain_.empty()) {
      --at_;
      return rest_is_command();
    }
    if (plain_.size() == plain_max()) {
      throw trouble(exit_code::usage, quoted(title_of(command_)) + " does not expect '" + word + "'", see_help());
    }
    plain_.push_back(word);
  }

  // `tyer help`, `tyer help run`
  void take_help() {
    if (at_ < words_.size()) take_command(words_[at_++]);
    found_.own.push_back("--help");
    done_ = true;
  }

  void take_command(const std::string& word) {
    if (word == "help") return take_help();
    const auto all = commands();
    const auto at = std::ranges::find(all, word, [](const CLI::App* c) { return c->get_name(); });
    if (at == all.end()) throw unknown_command(word);
    command_ = *at;
    found_.own.push_back(word);
  }

  void rest_is_command() {
    found_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    done_ = true;
  }

  std::vector<const CLI::App*> commands() const { return root_.get_subcommands(nullptr); }

  std::string see_help() const { return "See " + quoted(title_of(command_) + " --help") + '.'; }

  trouble unknown_option(const std::string& name) const {
    std::vector<std::string> known;
    if (command_ != nullptr) add_names(*command_, known);
    add_names(root_, known);
    std::string advice = see_help();
    auto meant = option_elsewhere(name, known);
    if (meant.empty()) meant = nearest(name, known);
    if (!meant.empty()) {
      advice = "Did you mean " + meant + "? " + advice;
    } else if (name == "-c" && command_ != nullptr && runs_another()) {  // of flock
      advice = "For a line of the shell: " + quoted(title_of(command_) + " NAME -- sh -c '…'") + ". " + advice;
    } else if (const auto others = who_has(name); !others.empty()) {
      advice = others + " it. " + advice;
    }
    return {exit_code::usage, quoted(title_of(command_)) + " has no option " + shown_name(name), advice};
  }

  trouble unknown_command(const std::string& word) const {
    std::vector<std::string> known;
    for (const CLI::App* c : commands()) known.push_back(c->get_name());
    auto meant = known_elsewhere_as(word);
    if (meant.empty()) meant = nearest(word, known);
    std::string advice = see_help();
    if (!meant.empty()) {
      advice = "Did you mean " + quoted("tyer " + meant) + "? " + advice;
    } else if (at_ < words_.size() && word != end_of_options) {
      advice = "To run a command under a lock of that name: " + quoted("tyer run NAME -- COMMAND…") + ". " + advice;
    }
    return {exit_code::usage, "there is no command '" + word + "'", advice};
  }

  // "`tyer run` and `tyer try` have"
  std::string who_has(const std::string& option) const {
    std::vector<std::string> titles;
    for (const CLI::App* c : commands()) {
      if (c->get_option_no_throw(option) != nullptr) titles.push_back(quoted(title_of(c)));
    }
    std::string text;
    for (const auto& t : titles) text += (text.empty() ? "" : &t == &titles.back() ? " and " : ", ") + t;
    return text.empty() ? text : text + (titles.size() == 1 ? " has" : " have");
  }

  const CLI::App& root_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  const CLI::App* command_ = nullptr;
  std::vector<std::string> plain_;  // what is no option
  arguments found_;
  bool done_ = false;
};

}  // namespace

arguments sort_arguments(const CLI::App& root, int argc, const char* const* argv) {
  return sorter{root, argc, argv}.sorted();
}

}  // namespace cli
