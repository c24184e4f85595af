// tyer watch: locks as they change.
#include "base/doubt.hpp"
#include "base/news.hpp"
#include "base/option.hpp"
#include "base/repeat.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "commands.hpp"
#include "show.hpp"
#include "text/duration.hpp"
#include "text/entries.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"

#include <iostream>
#include <map>
#include <memory>
#include <optional>

namespace cli {

namespace {

struct options {
  std::string name, prefix;
  repetition when;
};

std::string in_a_line(const lock& l) {
  const auto waiters = waiting(l.all);
  std::string text = clock_time() + "  " + plain(l.name) + "  " + state(l.all);
  if (waiters < l.all.size()) {
    const auto& first = l.all.front();
    text += " by " + who(first) + (first.owner.site.empty() ? "" : " at " + where(first));
  }
  if (waiters > 0) text += ", " + std::to_string(waiters) + " waiting";
  return text;
}

json timed(json j) {
  json t = {{"time", time_json(std::chrono::system_clock::now())}};
  t.update(j);
  return t;
}

void tell(session& s, const lock& l) {
  if (s.json()) return print(timed(lock_json(l)));
  std::cout << in_a_line(l) << std::endl;
}

// In a pipe, where silence would mean that nothing has changed. No name: for all locks.
void tell_unknown(session& s, const std::string& name, const tyer::failure& why) {
  if (s.json()) {
    json j = {{"state", "unknown"}, {"why", text_json(in_words(why))}};
    if (!name.empty()) put_name(j, name);
    return print(timed(j));
  }
  std::cout << clock_time() << "  " << (name.empty() ? "" : plain(name) + "  ") << "unknown, " << in_words(why)
            << std::endl;
}

// An outage is no reason to end; the output shows it.
template <class T>
std::string or_trouble(const tyer::failure& why, const T& text) {
  return why ? in_words(why) + '\n' : text();
}

exit_code watch_one(session& s, const options& o, signals& bell) {
  const auto admin = s.admin();
  news told{admin, o.name, bell, o.when.every};
  if (s.screen().out_is_redrawn() && !s.json()) {
    return repeat_on_screen(s, o.when, bell, [&] {
      while (told.take()) {}
      tyer::failure why;
      const auto all = admin.show(why, o.name);
      return or_trouble(why, [&] { return lock_text(o.name, all, s.screen()); });
    });
  }
  doubt silence{admin, o.name, o.when.every};
  bool known = true;
  return repeat(o.when, bell, [&] {
    while (auto all = told.take()) {
      tell(s, {o.name, *std::move(all)});
      known = true;
    }
    if (auto seen = silence.take(); seen && seen->why && known) {
      tell_unknown(s, o.name, seen->why);
      known = false;
    } else if (seen && !seen->why && !known) {
      tell(s, {o.name, std::move(seen->all)});
      known = true;
    }
    return silence.left();
  });
}

// What must change for a lock to be printed again: who holds it and how many wait.
std::string gist(const lock& l) {
  std::string text = std::to_string(waiting(l.all));
  for (const auto& e : l.all) {
    if (!e.waiting) text += ' ' + (e.id ? e.id.text() : e.owner.text);
  }
  return text;
}

void tell_changes(session& s, const std::vector<lock>& now, std::map<std::string, std::string>& before) {
  std::map<std::string, std::string> after;
  for (const auto& l : now) {
    const auto g = after[l.name] = gist(l);
    const auto old = before.find(l.name);
    if (old == before.end() || old->second != g) tell(s, l);
    before.erase(l.name);
  }
  for (const auto& [name, g] : before) tell(s, {name, {}});
  before = std::move(after);
}

exit_code watch_all(session& s, const options& o, signals& bell) {
  const auto admin = s.admin();
  if (s.screen().out_is_redrawn() && !s.json()) {
    return repeat_on_screen(s, o.when, bell, [&] {
      tyer::failure why;
      const auto locks = look_at_all(admin, o.prefix, bell, why);
      return or_trouble(why, [&] { return locks.empty() ? "no locks\n" : locks_table(locks).text(s.screen()); });
    });
  }
  std::map<std::string, std::string> before;
  bool known = true;
  return repeat(o.when, bell, [&] {
    tyer::failure why;
    const auto now = look_at_all(admin, o.prefix, bell, why);
    if (why && known) {
      tell_unknown(s, {}, why);
      for (auto& [name, g] : before) g.clear();  // so that all of them are printed again
    }
    known = !why;
    if (known) tell_changes(s, now, before);
    return o.when.every;
  });
}

exit_code watch(session& s, const options& o) {
  s.client();
  signals bell;
  return o.name.empty() ? watch_all(s, o, bell) : watch_one(s, o, bell);
}

}  // namespace

command watch_command() {
  return {
      .name = "watch",
      .summary = "Watch one lock, or all of them, as they change",
      .details =
          "On a terminal the output of `tyer show` or `tyer ls` is kept up to date. In a pipe there is one line for "
          "each change, with --json one JSON object per line, the first for the current state.\n\n"
          "With a name, changes are shown as they happen if the engine pushes them. All locks are listed every "
          "second; changes in between are not seen. If the engine stops answering, a pipe gets a line with the state "
          "unknown, at the latest 2 s after --every (for one lock: 2 s at least) has passed, and the current state "
          "when the engine answers again. Ends with Ctrl-C, or after --for.",
      .examples = {{"tyer watch order/42", "one lock"},
                   {"tyer watch --begins-with order/", "all that begin with order/"},
                   {"tyer watch order/42 --json | jq -r .state", "in a script"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        const auto name = add_option(app, "NAME", o->name, "The lock; default: all locks");
        add_option(app, "--begins-with", o->prefix, "Only locks whose names begin with this")
            .takes("TEXT")
            .not_with(name);
        add_duration(app, "--every", o->when.every, "The longest time between two reads");
        add_duration(app, "--for", o->when.during, "End after this long");
        return [o](session& s) { return watch(s, *o); };
      }};
}

}  // namespace cli
