// tyer completions: what the shell completes.
#include "help/completions.hpp"

#include "base/option.hpp"
#include "base/session.hpp"
#include "commands.hpp"

#include <iostream>
#include <memory>

namespace cli {

namespace {

exit_code completions(session& s, const std::string& shell) {
  const auto& pages = s.pages();
  std::cout << (shell == "bash"  ? bash_completions(pages)
                : shell == "zsh" ? zsh_completions(pages)
                                 : fish_completions(pages));
  return exit_code::ok;
}

}  // namespace

command completions_command() {
  return {.name = "completions",
          .summary = "Print a shell script that completes commands, options and names of locks",
          .details = "Names of locks are read from the engine that TYER_URL or the configuration file names.",
          .examples = {{"source <(tyer completions bash)", "in ~/.bashrc"},
                       {"source <(tyer completions zsh)", "in ~/.zshrc, after compinit"},
                       {"tyer completions fish | source", "in ~/.config/fish/config.fish"}},
          .prepare = [](CLI::App& app) -> action {
            auto shell = std::make_shared<std::string>();
            add_option(app, "SHELL", *shell, "Which shell").required().one_of({"bash", "zsh", "fish"});
            return [shell](session& s) { return completions(s, *shell); };
          }};
}

}  // namespace cli
