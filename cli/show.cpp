// tyer show: who holds a lock, and who waits for it.
#include "show.hpp"

#include "base/option.hpp"
#include "base/session.hpp"
#include "base/spelling.hpp"
#include "commands.hpp"
#include "run/once.hpp"
#include "run/runner.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

namespace cli {

namespace {

constexpr std::size_t holders_in_full_max = 2, near_max = 3;

std::string heading(const std::string& name, const entries& all, const terminal& screen) {
  const auto waiters = waiting(all);
  const bool held = waiters < all.size();
  std::string text = screen.in(tone::bold, plain(name)) + "  " + screen.in(held ? tone::good : tone::plain, state(all));
  if (waiters > 0) text += ", " + screen.in(tone::warning, std::to_string(waiters) + " waiting");
  return text + '\n';
}

void row(std::string& out, const terminal& screen, const std::string& title, const std::string& text) {
  if (text.empty() || text == "-") return;
  constexpr std::size_t text_at = 10;
  const auto label = "  " + title + std::string(text_at - title.size(), ' ');
  out += screen.in(tone::faint, label) + text + '\n';
}

std::string note_text(const std::string& note) {
  std::string text = note;
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at)) text.replace(at, 1, " / ");
  return plain(text);
}

void holder_in_full(std::string& out, const tyer::lock_entry& e, const terminal& screen) {
  out += '\n';
  const auto runs = read_label(e.owner.label);
  row(out, screen, once_per::is_memory(e) ? "kept by" : "held by",
      runs ? process(e) + ", " + plain(runs->tool + " by " + runs->user) : who(e));
  if (runs) row(out, screen, "command", plain(runs->command));
  row(out, screen, "at", where(e));
  row(out, screen, "note", note_text(e.owner.note));
  if (e.mode != tyer::lock_mode::exclusive) row(out, screen, "as", how(e));
  row(out, screen, once_per::is_memory(e) ? "kept for" : "held for", held(e));
  row(out, screen, "asked", age(e) == "-" ? "" : age(e) + " ago");
  row(out, screen, "lease",
      left(e) + (once_per::is_memory(e) ? " more; --now frees it (tyer break)" : " more, if it is not renewed"));
  row(out, screen, "token", token(e));
  row(out, screen, "id", e.id.text());
}

table holders_table(const entries& all) {
  table t{{{"HELD BY", false, 12},
           {"AS", false, 6},
           {"AT", false, 8},
           {"HELD", true},
           {"ASKED", true},
           {"LEFT", true},
           {"TOKEN", true}}};
  for (const auto& e : all) {
    if (!e.waiting) t.add({{who(e)}, {how(e)}, {where(e)}, {held(e)}, {age(e)}, {left(e)}, {token(e)}});
  }
  return t;
}

table waiters_table(const entries& all) {
  table t{{{"#", true}, {"WAITING", false, 12}, {"AS", false, 6}, {"AT", false, 8}, {"FOR", true}, {"KEPT", true}}};
  for (const auto& e : all) {
    if (e.waiting) t.add({{std::to_string(e.place)}, {who(e)}, {how(e)}, {where(e)}, {age(e)}, {left(e)}});
  }
  return t;
}

// If a lock is not found, its name may be mistyped, or the engine or the prefix may be another one.
struct elsewhere {
  std::string engine, prefix;
  std::vector<lock> near;
};

elsewhere look_elsewhere(session& s, const std::string& name) {
  elsewhere e{s.admin().address(), s.prefix(), {}};
  auto some = list_some(s.admin());
  std::vector<std::string> names;
  for (const auto& l : some) names.push_back(l.name);
  for (const auto& n : similar(name, names, near_max)) {
    e.near.push_back(std::move(*std::ranges::find(some, n, &lock::name)));
  }
  return e;
}

std::string elsewhere_text(const elsewhere& e, const terminal& screen) {
  std::string out = "\n";
  row(out, screen, "engine", plain(e.engine));
  row(out, screen, "prefix", e.prefix.empty() ? "none" : plain(e.prefix));
  for (const auto& l : e.near)
    row(out, screen, "near", plain(l.name) + " is " + (waiting(l.all) == l.all.size() ? "waited for" : state(l.all)));
  return out;
}

exit_code show(session& s, const std::string& name) {
  const auto all = s.admin().show(name);
  const bool anybody = !all.empty();
  const auto free = anybody ? std::nullopt : std::optional{look_elsewhere(s, name)};
  if (s.json()) {
    json j = lock_json({name, all});
    j["waiters"] = json::array();
    for (const auto& e : all) {
      if (e.waiting) j["waiters"].push_back(entry_json(e));
    }
    if (free) {
      j["engine"] = text_json(free->engine);
      j["prefix"] = text_json(free->prefix);
      j["near"] = json::array();
      for (const auto& l : free->near) j["near"].push_back(lock_json(l));
    }
    print(j);
  } else {
    std::cout << lock_text(name, all, s.screen()) << (free ? elsewhere_text(*free, s.screen()) : "");
  }
  return anybody ? exit_code::ok : exit_code::no;
}

}  // namespace

std::string lock_text(const std::string& name, const entries& all, const terminal& screen) {
  std::string out = heading(name, all, screen);
  if (all.size() - waiting(all) <= holders_in_full_max) {
    for (const auto& e : all) {
      if (!e.waiting) holder_in_full(out, e, screen);
    }
  } else {
    out += '\n' + holders_table(all).text(screen);
  }
  if (waiting(all) > 0) out += '\n' + waiters_table(all).text(screen);
  return out;
}

command show_command() {
  return {
      .name = "show",
      .summary = "Show who holds a lock and who waits for it",
      .details =
          "Shows every holder with its host, process, program and the place in its code, its note, how long it has "
          "held the lock and how long ago it asked for it, how much of its lease is left and its fencing token; then "
          "the waiters, the next one first. A holder under `tyer run`, `try` or `elect` is shown with its user and "
          "command line: a signal to that process reaches the command. KEPT is how long a place in the queue lasts if "
          "the waiter does not renew it.\n\n"
          "The lock of `tyer run --once-per` is shown as kept, not held: no job runs under it. A released lock that "
          "stays taken because of a min_hold looks like a held one.\n\n"
          "The identity of an owner is what its client says. Times are by the clock of the owner's machine, except "
          "how long the lock has been held, which is by the clock of the server, and not known on etcd. Hand-offs "
          "between threads of one client are not visible from outside.\n\n"
          "For a free lock it says where it looked, and which held locks have similar names.\n\n"
          "Exits with 1 if nobody holds the lock or waits for it.",
      .examples = {{"tyer show order/42", "who has it"},
                   {"tyer show order/42 --json | jq -r '.holders[0].owner.host'", "on which machine"}},
      .prepare = [](CLI::App& app) -> action {
        auto name = std::make_shared<std::string>();
        add_option(app, "NAME", *name, "The lock").required();
        return [name](session& s) { return show(s, *name); };
      }};
}

}  // namespace cli
