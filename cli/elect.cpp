// tyer elect: runs a command on the leader.
#include "base/option.hpp"
#include "commands.hpp"
#include "run/keep.hpp"
#include "run/plan.hpp"
#include "run/words.hpp"

#include <memory>

namespace cli {

namespace {

action prepare(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  p->verb = "elect";
  p->elect = true;
  add_common(app, *p);
  const auto once = std::make_shared<bool>(false);
  add_flag(app, "--once", *once, "Exit with 123 when leadership is lost, instead of standing again");
  return [p, once](session& s) {
    p->again = !*once;
    return run_plan(s, *p);
  };
}

}  // namespace

command elect_command() {
  return {.name = "elect",
          .summary = "Run a command on one machine at a time, for as long as it leads",
          .details = words::paragraphs(
              {"Stands for election, runs the command while it leads, and stands again if leadership is lost; the "
               "command is ended before another one can lead. When the command ends by itself, tyer resigns and exits "
               "with its code. TYER_TOKEN is the number of the term.",
               words::what_is_promised, words::whose_words, words::environment, words::if_asked}),
          .examples = {{"tyer elect scheduler --note $(hostname) -- ./scheduler",
                        "start it on every machine; one runs it"}},
          .prepare = prepare,
          .usage = words::usage};
}

}  // namespace cli
