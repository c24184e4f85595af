// tyer break: makes a holder release its lock.
#include "base/news.hpp"
#include "base/option.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "run/once.hpp"
#include "show.hpp"
#include "text/duration.hpp"
#include "text/entries.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct options {
  std::string name, reason, id;
  bool now = false, yes = false;
  milliseconds timeout{30s};
};

enum class fate { evicted, gave_back, already_gone, still_held };

const char* word_for(fate f) {
  switch (f) {
    case fate::evicted: return "evicted";
    case fate::gave_back: return "gave_back";
    case fate::already_gone: return "already_gone";
    case fate::still_held: break;
  }
  return "still_held";
}

struct holder {
  tyer::lock_entry entry;
  steady_clock::time_point seen = steady_clock::now();
  fate became = fate::still_held;
  bool renewed = false;  // since then

  // More of its lease is left than without a renewal.
  void compare(const tyer::lock_entry& now) {
    constexpr milliseconds imprecision = 1500ms;  // of etcd, which counts in seconds
    const auto since = std::chrono::duration_cast<milliseconds>(steady_clock::now() - seen);
    renewed = now.remaining > entry.remaining - since + imprecision;
  }
};

std::vector<holder> find_holders(const entries& all, const std::string& id) {
  std::vector<holder> found;
  for (const auto& e : all) {
    if (!e.waiting && (id.empty() || e.id.text() == id)) found.push_back({e});
  }
  return found;
}

bool same(const tyer::lock_entry& a, const tyer::lock_entry& b) {
  return a.id == b.id && a.owner.text == b.owner.text;  // another library's holders have no id
}

bool among(const tyer::lock_entry& which, const entries& all) {
  return std::ranges::any_of(all, [&](const auto& e) { return !e.waiting && same(e, which); });
}

// Evicts exactly the holders that were seen: a later one holds the lock rightfully.
void evict(const tyer::admin& admin, std::vector<holder>& holders, const std::string& reason) {
  for (auto& h : holders) h.became = admin.evict(h.entry, reason) ? fate::evicted : fate::already_gone;
}

// True when none of them holds it any more.
bool note_who_left(std::vector<holder>& holders, const entries& now) {
  for (auto& h : holders) h.became = among(h.entry, now) ? fate::still_held : fate::gave_back;
  return std::ranges::none_of(holders, [](const auto& h) { return h.became == fate::still_held; });
}

// Finds out what an engine cannot say: whether a holder is alive that could release it.
void look_who_renews(const tyer::admin& admin, const options& o, std::vector<holder>& holders) {
  tyer::failure why;
  for (const auto& now : admin.show(why, o.name)) {
    for (auto& h : holders) {
      if (!now.waiting && same(now, h.entry)) h.compare(now);
    }
  }
}

// False: interrupted. The holder may take its time, and one that ignores the request keeps renewing.
bool wait_until_given_back(session& s, const options& o, signals& bell, std::vector<holder>& holders) {
  news told{s.admin(), o.name, bell, 500ms};
  const auto owner = who(holders.front().entry);
  const progress waiting{s.screen(), [&] { return "asked " + owner + " for " + named(o.name) + ", waiting"; }};
  const auto start = steady_clock::now();
  for (bool gone = false; !gone;) {
    const auto left = o.timeout - std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
    if (left <= 0ms) return look_who_renews(s.admin(), o, holders), true;
    if (!bell.wait(left)) return false;
    while (auto now = told.take()) gone = note_who_left(holders, *now);
  }
  return true;
}

void confirm(session& s, const options& o, const entries& all) {
  if (o.yes) return;
  if (!s.screen().in_is_terminal() || !s.screen().err_is_terminal()) {
    throw trouble(exit_code::usage, "breaking a lock must be confirmed, and there is no terminal to ask on",
                  "Use --yes if you are sure.");
  }
  std::cerr << lock_text(o.name, all, terminal{"never"}) << '\n';
  const char* question =
      o.now ? "Take it at once from its holder, who may be working?" : "Ask its holder to release it?";
  if (!confirmed(question)) throw trouble(exit_code::refused, "nothing was done");
}

// A released hold that a min_hold keeps taken looks like any other: while its client lives, the client renews it.
std::string advice_on(const std::vector<holder>& holders) {
  if (std::ranges::all_of(holders, once_per::is_memory, &holder::entry))
    return "--now frees it, and the job can start again.";
  if (std::ranges::any_of(holders, &holder::renewed)) {
    return "The holder was asked and keeps renewing: it ignores the request, or a min_hold keeps the released lock "
           "taken.\n"
           "Stop the holder, or take the lock from it with --now.";
  }
  return "The holder was asked, and no renewal was seen. Perhaps no holder is left that could release it: a min_hold\n"
         "keeps the released lock taken, or the holder is dead or stopped. It ends by itself when its lease is over\n"
         "(tyer show); --now frees it.";
}

std::string why_not(const options& o, const std::vector<holder>& holders) {
  if (!std::ranges::all_of(holders, once_per::is_memory, &holder::entry))
    return named(o.name) + " was not released within " + typed(o.timeout);
  return named(o.name) + " is kept by --once-per for " + left(holders.front().entry) +
         " more: there is no holder to ask";
}

exit_code report(session& s, const options& o, const std::vector<holder>& holders, std::uint32_t asked) {
  const bool all_gone = std::ranges::none_of(holders, [](const auto& h) { return h.became == fate::still_held; });
  if (s.json()) {
    json j = {{"name", text_json(o.name)}, {"asked", asked}, {"broken", all_gone}, {"holders", json::array()}};
    for (const auto& h : holders) {
      j["holders"].push_back({{"entry", entry_json(h.entry)}, {"outcome", word_for(h.became)}});
    }
    print(j);
  } else {
    for (const auto& h : holders) {
      const auto owner = who(h.entry);
      switch (h.became) {
        case fate::evicted: std::cout << "taken from " << owner << ", token " << token(h.entry) << '\n'; break;
        case fate::gave_back: std::cout << owner << " no longer holds it\n"; break;
        case fate::already_gone: std::cout << owner << " had already released it\n"; break;
        case fate::still_held:
          std::cout << owner << (once_per::is_memory(h.entry) ? " has left it" : " has not released it") << '\n';
          break;
      }
    }
  }
  if (all_gone) return exit_code::ok;
  throw trouble(exit_code::not_acquired, why_not(o, holders), advice_on(holders));
}

exit_code break_lock(session& s, const options& o) {
  const auto admin = s.admin();
  const auto all = admin.show(o.name);
  auto holders = find_holders(all, o.id);
  if (holders.empty()) {
    if (s.json()) return report(s, o, holders, 0), exit_code::no;
    std::cerr << "tyer: nobody holds " << named(o.name) << (o.id.empty() ? "" : " with that id") << '\n';
    return exit_code::no;
  }
  confirm(s, o, all);
  if (o.now) {
    // Does not ask the holder first: else it would be random whether the holder releases the lock or loses it.
    evict(admin, holders, o.reason);
    return report(s, o, holders, 0);
  }
  if (std::ranges::all_of(holders, once_per::is_memory, &holder::entry)) return report(s, o, holders, 0);
  signals bell;
  const auto asked = s.client().ask(o.name, o.reason);
  if (!wait_until_given_back(s, o, bell, holders)) return bell.code();
  return report(s, o, holders, asked);
}

}  // namespace

command break_command() {
  return {
      .name = "break",
      .summary = "Make the holder of a lock release it",
      .details =
          "Asks the holder to release the lock (its hold::revoked() is requested, with the reason) and waits until it "
          "has done so or its lease has ended. A command under `tyer run` or `tyer elect` gets SIGTERM, and tyer ends "
          "with its code. A holder that ignores the request keeps renewing: then tyer break exits with 124. A "
          "released lock that stays taken because of a min_hold looks the same from outside, and has no holder that "
          "could be asked; neither has the lock of `tyer run --once-per`. --now frees them.\n\n"
          "With --now the lock is taken at once, from exactly the holders that were seen, never from a later one. "
          "Nobody is asked. The old holder is told that it has lost the lock (`tyer run` ends with 123, `tyer elect` "
          "stands for election again), but until the message arrives it keeps working, while the next holder already "
          "works. Only resources that check fencing tokens are safe then.\n\n"
          "With and without --now it asks for confirmation on a terminal; without a terminal it does nothing unless "
          "--yes is given. Exits with 1 if nobody holds the lock.",
      .examples = {{"tyer break deploy --reason 'rollback'", "asks, and waits"},
                   {"tyer break deploy --reason 'host is gone' --now --yes", "in a script, at once"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "NAME", o->name, "The lock").required();
        add_option(app, "--reason", o->reason, "The reason, which is shown to the holder").required().takes("TEXT");
        add_flag(app, "--now", o->now, "Take the lock from its holder at once");
        add_flag(app, "--yes", o->yes, "Do not ask for confirmation");
        add_option(app, "--id", o->id, "Only the holder with this id, if there are several").takes("ID");
        add_duration(app, "--timeout", o->timeout, "How long to wait for the holder");
        return [o](session& s) { return break_lock(s, *o); };
      }};
}

}  // namespace cli
