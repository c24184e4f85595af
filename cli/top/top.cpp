// tyer top: the busiest locks, as they change.
#include "base/option.hpp"
#include "base/repeat.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "commands.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/table.hpp"
#include "top/activity.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

namespace cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t rows_in_a_pipe = 10;

struct options {
  std::string prefix;
  repetition when;
  std::size_t rows = 0;  // 0: as many as fit
};

std::string rate(double turns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", turns);
  return text;
}

std::string summary(const activity_totals& t, const terminal& screen) {
  std::string text =
      std::to_string(t.held) + " held, " + std::to_string(t.waiters) + " waiting, " + rate(t.turns) + " turns/s";
  if (t.late > 0) text += ", " + screen.in(tone::warning, std::to_string(t.late) + " not renewed");
  if (t.ran_out > 0) text += ", " + screen.in(tone::bad, std::to_string(t.ran_out) + " ran out");
  return text + '\n';
}

table table_of(const std::vector<busy_lock>& all, std::size_t rows) {
  table t{{{"NAME", false, 8},
           {"WAITING", true},
           {"LONGEST", true},
           {"TURNS/S", true},
           {"STATE"},
           {"BY", false, 8},
           {"HELD", true},
           {"LEFT", true}}};
  for (const auto& b : all) {
    if (rows-- == 0) break;
    const bool taken = b.waiters < b.now.all.size();
    const auto& first = b.now.all.front();
    t.add({{plain(b.now.name), tone::bold},
           {b.waiters == 0 ? "-" : std::to_string(b.waiters), b.waiters == 0 ? tone::faint : tone::warning},
           {b.waiters == 0 ? "-" : shown(b.longest_wait)},
           {rate(b.turns)},
           {state(b.now.all), taken ? tone::good : tone::plain},
           {taken ? who(first) : "-"},
           {taken ? held(first) : "-"},
           {taken ? left(first) : "-", b.late ? tone::bad : tone::plain}});
  }
  return t;
}

json json_of(const std::vector<busy_lock>& all, const activity_totals& t, std::size_t rows) {
  json j = {{"time", time_json(std::chrono::system_clock::now())},
            {"held", t.held},
            {"waiting", t.waiters},
            {"turns_per_s", t.turns},
            {"not_renewed", t.late},
            {"ran_out", t.ran_out},
            {"locks", json::array()}};
  for (const auto& b : all) {
    if (rows-- == 0) break;
    j["locks"].push_back({{"lock", lock_json(b.now)},
                          {"turns_per_s", b.turns},
                          {"longest_wait_ms", b.longest_wait.count()},
                          {"not_renewed", b.late}});
  }
  return j;
}

class looker {
 public:
  looker(session& s, const options& o, const signals& bell)
      : session_(s), options_(o), bell_(bell), admin_(s.admin()) {}

  std::string picture(std::size_t rows) {
    tyer::failure why;
    auto locks = look_at_all(admin_, options_.prefix, bell_, why);
    if (why) return in_words(why) + '\n';
    const auto all = activity_.look(std::move(locks), steady_clock::now());
    const auto text = summary(activity_.totals(), session_.screen()) + '\n';
    return all.empty() ? text : text + table_of(all, rows).text(session_.screen());
  }

  json object(std::size_t rows) {
    tyer::failure why;
    auto locks = look_at_all(admin_, options_.prefix, bell_, why);
    if (why) return {{"time", time_json(std::chrono::system_clock::now())}, {"why", text_json(in_words(why))}};
    const auto all = activity_.look(std::move(locks), steady_clock::now());
    return json_of(all, activity_.totals(), rows);
  }

 private:
  session& session_;
  const options& options_;
  const signals& bell_;
  tyer::admin admin_;
  activity activity_;
};

exit_code top(session& s, const options& o) {
  s.client();  // signals end it while nobody has been reached yet
  signals bell;
  looker eyes{s, o, bell};
  if (s.screen().out_is_redrawn() && !s.json()) {
    return repeat_on_screen(s, o.when, bell, [&] {
      return eyes.picture(o.rows > 0 ? o.rows : static_cast<std::size_t>(std::max(s.screen().height(), 1)));
    });
  }
  const auto rows = o.rows > 0 ? o.rows : rows_in_a_pipe;
  return repeat(o.when, bell, [&] {
    s.json() ? print(eyes.object(rows)) : void(std::cout << clock_time() << "  " << eyes.picture(rows) << std::endl);
    return o.when.every;
  });
}

}  // namespace

command top_command() {
  return {
      .name = "top",
      .summary = "Watch the busiest locks",
      .details =
          "The locks with the longest queues first; then those that change hands most often. LONGEST is how long ago "
          "the one that waits longest asked, by its own clock; TURNS/S how often somebody else had the lock, over the "
          "last 10 s; LEFT what is left of the lease if it is not renewed.\n\n"
          "It looks every second (--every), and of several turns between two looks it sees one. A holder is \"not "
          "renewed\" if less than half of its lease is left: its process is stopped, cut off or dead, or it was given "
          "back and a min_hold keeps it. One that was not renewed and is gone at the next look \"ran out\". Hand-offs "
          "inside a process are not visible from outside. Ends with Ctrl-C, or after --for.",
      .examples = {{"tyer top", "all locks of the prefix"},
                   {"tyer top order/ --rows 5", "the busiest five that begin with order/"},
                   {"tyer top --json --for 1m", "one object for each look"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "PREFIX", o->prefix, "Only locks whose names begin with this");
        add_option(app, "--rows", o->rows, "Show this many; default: as many as fit, in a pipe 10").positive();
        add_duration(app, "--every", o->when.every, "How often to look");
        add_duration(app, "--for", o->when.during, "End after this long");
        return [o](session& s) { return top(s, *o); };
      }};
}

}  // namespace cli
