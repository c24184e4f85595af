// tyer ls: which locks there are.
#include "base/option.hpp"
#include "base/session.hpp"
#include "commands.hpp"
#include "show.hpp"
#include "text/duration.hpp"
#include "text/entries.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"
#include "text/table.hpp"

#include <iostream>
#include <memory>

namespace cli {

namespace {

struct options {
  std::string prefix;
  bool names = false;
};

exit_code ls(session& s, const options& o) {
  const auto admin = s.admin();
  const auto locks = [&] {
    const progress looking{s.screen(), [] { return "looking through the locks"; }};
    return list_all(admin, o.prefix);
  }();
  if (o.names) {
    for (const auto& l : locks) std::cout << plain(l.name) << '\n';
  } else if (s.json()) {
    json all = {{"locks", json::array()}};
    for (const auto& l : locks) all["locks"].push_back(lock_json(l));
    print(all);
  } else if (locks.empty()) {
    std::cerr << "no locks" << (o.prefix.empty() ? "" : " that begin with " + named(o.prefix)) << " at "
              << short_address(admin.address()) << '\n';
  } else {
    std::cout << locks_table(locks).text(s.screen());
  }
  return exit_code::ok;
}

}  // namespace

table locks_table(const std::vector<lock>& locks) {
  table t{{{"NAME", false, 8},
           {"STATE"},
           {"BY", false, 8},
           {"HELD", true},
           {"ASKED", true},
           {"LEFT", true},
           {"WAITING", true}}};
  for (const auto& l : locks) {
    const auto waiters = waiting(l.all);
    const bool taken = waiters < l.all.size();
    const auto& first = l.all.front();
    t.add({{plain(l.name), tone::bold},
           {state(l.all), taken ? tone::good : tone::plain},
           {taken ? who(first) : "-"},
           {taken ? held(first) : "-"},
           {taken ? age(first) : "-"},
           {taken ? left(first) : "-"},
           {waiters == 0 ? "-" : std::to_string(waiters), waiters == 0 ? tone::faint : tone::warning}});
  }
  return t;
}

command ls_command() {
  return {
      .name = "ls",
      .summary = "List the locks that are held or waited for",
      .details =
          "One line for each lock: its state, who holds it, for how long, how long ago it was asked for, how much of "
          "its lease is left if it is not renewed, and how many wait. With several holders the first is shown; `tyer "
          "show NAME` shows all. A lock in the state kept marks a period of `tyer run --once-per`: no job runs under "
          "it. HELD is not known on etcd.\n\n"
          "A listing is no snapshot: a lock that is taken or released meanwhile may be missing.",
      .examples = {{"tyer ls", "all locks of the prefix"},
                   {"tyer ls order/", "those whose names begin with order/"},
                   {"tyer ls --json | jq -r '.locks[] | select(.waiting > 10) | .name'", "those with a long queue"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "PREFIX", o->prefix, "Only names that begin with this");
        add_flag(app, "--names", o->names, "Print the names only, one on each line");
        return [o](session& s) { return ls(s, *o); };
      }};
}

}  // namespace cli
