// tyer show: who holds a lock, and who waits for it.
#include "show.hpp"

#include "base/session.hpp"
#include "commands.hpp"
#include "run/once.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace cli {

namespace {

constexpr std::size_t holders_in_full_max = 2;

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
  row(out, screen, is_period(e) ? "kept by" : "held by", who(e));
  row(out, screen, "at", where(e));
  row(out, screen, "note", note_text(e.owner.note));
  if (e.mode != tyer::lock_mode::exclusive) row(out, screen, "as", how(e));
  row(out, screen, "asked", age(e) == "-" ? "" : age(e) + " ago");
  row(out, screen, "lease",
      left(e) + (is_period(e) ? " more; --now opens it (tyer break)" : " more, if it is not renewed"));
  row(out, screen, "token", token(e));
  row(out, screen, "id", e.id.text());
}

table holders_table(const entries& all) {
  table t{{{"HELD BY", false, 12}, {"AS", false, 6}, {"AT", false, 8}, {"AGE", true}, {"LEFT", true}, {"TOKEN", true}}};
  for (const auto& e : all) {
    if (!e.waiting) t.add({{who(e)}, {how(e)}, {where(e)}, {age(e)}, {left(e)}, {token(e)}});
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

exit_code show(session& s, const std::string& name) {
  const auto all = s.admin().show(name);
  const bool anybody = !all.empty();
  if (s.json()) {
    json j = lock_json({name, all});
    j["waiters"] = json::array();
    for (const auto& e : all) {
      if (e.waiting) j["waiters"].push_back(entry_json(e));
    }
    print(j);
  } else {
    std::cout << lock_text(name, all, s.screen());
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
          "Shows every holder with its host, process, program and the place in its code, its note, how long ago it "
          "asked for the lock, how much of its lease is left and its fencing token; then those who wait, the next "
          "one first. KEPT is how long a place in the queue lasts if nobody hears from the waiter any more.\n\n"
          "What `tyer run --once-per` keeps is said to be kept and not held: nobody is at work under it. A lock that "
          "was given back and is kept by a min_hold looks like one that is held.\n\n"
          "Who somebody is, is what that client says of itself. Times are by the clock of the owner's machine. "
          "Hand-offs between threads of one client are not seen from outside.\n\n"
          "Exits with 1 if nobody holds the lock or waits for it.",
      .examples = {{"tyer show order/42", "who has it"},
                   {"tyer show order/42 --json | jq -r '.holders[0].owner.host'", "on which machine"}},
      .prepare = [](CLI::App& app) -> action {
        auto name = std::make_shared<std::string>();
        app.add_option("NAME", *name, "The lock")->required();
        return [name](session& s) { return show(s, *name); };
      }};
}

}  // namespace cli
