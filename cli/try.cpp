// tyer try: runs a command if the lock is free.
#include "commands.hpp"
#include "run/keep.hpp"
#include "run/plan.hpp"
#include "run/words.hpp"

#include <memory>

namespace cli {

namespace {

using namespace std::chrono_literals;

action prepare(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  p->verb = "try";
  p->wait = 0ms;
  add_common(app, *p);
  add_permits(app, *p);
  add_code_if_busy(app, *p);
  return [p](session& s) { return run_plan(s, *p); };
}

}  // namespace

command try_command() {
  return {.name = "try",
          .summary = "Run a command if a lock is free",
          .details = words::paragraphs(
              {"As `tyer run`, but does not wait: if somebody has the lock, or waits for it, the command is not "
               "started and the code is 124.",
               words::what_is_promised, words::whose_words, words::environment, words::slots, words::the_end}),
          .examples = {{"tyer try sync -- rsync -a here/ there/", "skipped if another one still runs"}},
          .prepare = prepare,
          .usage = words::usage};
}

}  // namespace cli
