// tyer deadlocks: processes that wait for each other.
#include "base/option.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "deadlocks/circles.hpp"
#include "deadlocks/picture.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <fstream>
#include <iostream>
#include <list>
#include <memory>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct options {
  std::string prefix, picture;
  std::vector<std::string> also;
  milliseconds apart{2s};
};

// The engines to look at: that of the session, and others.
class engines {
 public:
  engines(session& s, const std::vector<std::string>& also) {
    all_.push_back({short_address(s.admin().address()), s.engine().url, s.admin()});
    for (const auto& url : also) {
      others_.push_back(s.open_beside(url, "--also"));
      s.reach(others_.back());
      const tyer::admin its{others_.back()};
      all_.push_back({short_address(its.address()), url, its});
    }
  }

  // Only what somebody waits for can be part of a deadlock. Who comes before whom, only show() says.
  std::vector<seen_lock> look(const std::string& prefix) const {
    std::vector<seen_lock> found;
    for (const auto& at : all_) {
      for (auto& l : list_all(at.admin, prefix)) {
        if (waiting(l.all) == 0) continue;
        l.all = at.admin.show(l.name);
        found.push_back({at.address, std::move(l)});
      }
    }
    return found;
  }
  bool several() const { return all_.size() > 1; }
  // How the one at this address was named, if it was.
  const std::string& typed(const std::string& address) const {
    return std::ranges::find(all_, address, &one::address)->url;
  }

 private:
  std::list<tyer::client> others_;
  struct one {
    std::string address, url;
    tyer::admin admin;
  };
  std::vector<one> all_;
};

struct sight {
  std::vector<seen_lock> locks;
  std::vector<circle> found;
};

// Signals are heard for as long as this only: one that came during a look would have to wait for its end.
void wait_until_next_look(milliseconds how_long) {
  signals bell;
  if (!bell.wait(how_long)) throw trouble{bell.code(), "interrupted"};
}

// What waits for each other at one moment may be gone at the next: what is told was so twice.
sight look_twice(session& s, const engines& at, const options& o) {
  const progress looking{s.screen(), [] { return "looking for processes that wait for each other"; }};
  const auto first = at.look(o.prefix);
  if (circles(first).empty()) return {};
  wait_until_next_look(o.apart);
  sight second{at.look(o.prefix), {}};
  second.found = lasting(circles(second.locks), first);
  return second;
}

std::string step_text(const sight& seen, const circle_step& step, const circle_step& next, bool with_engine,
                      const terminal& screen) {
  const auto& w = step.waits;
  std::string text = "  " + screen.in(tone::bold, who(w)) + "\n    waits for " + named(w.name);
  if (with_engine) text += " at " + seen.locks[step.on].engine;
  text += "\n    " + how(w) + ", for " + age(w) + ", in " + where(w) + "\n    ";
  if (step.other.waiting) return text + "before it in the queue is\n";
  text += "it is held by";
  const bool inside = step.other.owner.pid != next.waits.owner.pid;
  return text + (inside ? ' ' + process(step.other) + ", inside whose command is\n" : "\n");
}

// `tyer`, with what was said to this one before its command, for that engine. A URL with a login is not repeated.
std::string tyer_as_called(const given& g, const std::string& url) {
  std::string text = "tyer ";
  if (!g.config.empty()) text += "--config " + for_shell(g.config) + ' ';
  if (!url.empty() && url.find('@') == url.npos) text += "--url " + for_shell(url) + ' ';
  const bool has_its_own = url.find("prefix=") != url.npos;
  return g.prefix.empty() || has_its_own ? text : text + "--prefix " + for_shell(g.prefix) + ' ';
}

std::string advice(const circle_step& held, const std::string& engine, const engines& all, session& s) {
  return "It ends when one of them lets go: end a process, or take a lock from its holder" +
         (all.several() ? "\nat " + engine : std::string{}) + ":\n  " + tyer_as_called(s.engine(), all.typed(engine)) +
         "break " + for_shell(held.other.name) + " --now --reason deadlock\n";
}

std::string circle_text(const sight& seen, const circle& c, const engines& all, session& s) {
  const auto& screen = s.screen();
  std::string text = screen.in(tone::bad, "deadlock of " + std::to_string(c.size()) + " processes") + "\n\n";
  for (std::size_t i = 0; i < c.size(); ++i)
    text += step_text(seen, c[i], c[(i + 1) % c.size()], all.several(), screen);
  text += "  " + who(c.front().waits) + ", the first of them\n\n";
  const auto held = std::ranges::find_if(c, [](const circle_step& step) { return !step.other.waiting; });
  return held == c.end() ? text : text + advice(*held, seen.locks[held->on].engine, all, s);
}

json circle_json(const sight& seen, const circle& c) {
  json steps = json::array();
  for (const auto& step : c) {
    steps.push_back({{"engine", text_json(seen.locks[step.on].engine)},
                     {"waits", entry_json(step.waits)},
                     {"for", entry_json(step.other)}});
  }
  return {{"processes", steps}};
}

void save(const std::string& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  if (!out.flush()) throw trouble{exit_code::failed, "cannot write " + plain(file)};
}

exit_code deadlocks(session& s, const options& o) {
  const engines at{s, o.also};
  const auto seen = look_twice(s, at, o);
  if (!o.picture.empty()) save(o.picture, picture_of(seen.found));
  if (s.json()) {
    json all = {{"deadlocks", json::array()}};
    for (const auto& c : seen.found) all["deadlocks"].push_back(circle_json(seen, c));
    print(all);
  } else if (seen.found.empty()) {
    std::cout << "no deadlock found; `tyer deadlocks --help` says which cannot be seen\n";
  } else {
    for (const auto& c : seen.found) std::cout << circle_text(seen, c, at, s) << '\n';
    std::cout << "A process is told by host and pid. If it waits in one thread and holds in\n"
                 "another, it may still go on.\n";
  }
  return seen.found.empty() ? exit_code::ok : exit_code::no;
}

}  // namespace

command deadlocks_command() {
  return {
      .name = "deadlocks",
      .summary = "Find processes that wait for each other",
      .details =
          "Looks at who holds and who waits, and names every circle of processes in which each waits for a lock that "
          "the next one holds, or that the next one is to have before it. It looks twice, so that what passes by "
          "itself is not told. Nothing is changed. Names at other engines (--also) have the same prefix, unless their "
          "URLs "
          "have one.\n\n"
          "Processes are told apart by the host and pid that Tyer writes with each lock. A `tyer run` inside the "
          "command "
          "of another one counts as one process with it, but not inside `tyer run --leave`.\n\n"
          "What cannot be seen: a program inside the command of a `tyer run` that itself waits for a lock, since it is "
          "another process than the one that holds; waits for anything but a lock; holders of other libraries; waiters "
          "on Redlock, which has no queue; engines that were not named. Ends with 1 if a deadlock was found.",
      .examples = {{"tyer deadlocks", "among all locks of the prefix"},
                   {"tyer deadlocks --also etcd://10.0.0.7:2379", "over two engines"},
                   {"tyer deadlocks --picture deadlock.svg", "as a picture, too"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "PREFIX", o->prefix, "Only locks whose names begin with this");
        add_option(app, "--also", o->also,
                   "Another engine to look at, or its name in the configuration file; may be given several times")
            .takes("URL");
        add_option(app, "--picture", o->picture, "Write what was found to this file, as SVG").takes("FILE");
        add_duration(app, "--apart", o->apart, "How long after the first look to look again");
        return [o](session& s) { return deadlocks(s, *o); };
      }};
}

}  // namespace cli
