#include "api/events.hpp"

#include "api/describing.hpp"
#include "api/hold_ids.hpp"
#include "core/name.hpp"
#include "core/owner.hpp"
#include "core/site.hpp"

#include <tyer/event.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

std::string in_seconds(std::chrono::milliseconds d) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(d.count()) / 1000);
  return text.data();
}

std::string_view in_words(loss_reason why) {
  switch (why) {
    case loss_reason::deadline: return "no renewal was confirmed in time";
    case loss_reason::gone: return "the engine does not have it any more";
    case loss_reason::max_hold: return "its max_hold is over";
    case loss_reason::closed: return "the client was closed";
  }
  return {};
}

std::string who_holds(const event& e) {
  if (!e.words.empty()) return "; who holds it is not known: " + core::printable(e.words);
  if (e.holders.empty()) return "; it was free when the engine was asked";
  const lock_entry& first = e.holders.front();
  const auto who = first.owner.text.empty() ? "somebody who does not say who it is"
                                            : core::printable(core::owner_in_short(first.owner.text));
  std::string text = "; held by " + who;
  if (first.owner.since) {
    const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(e.when - *first.owner.since);
    text += ago >= ago.zero() ? ", who asked for it " + in_seconds(ago) + " ago"
                              : ", whose clock is at least " + in_seconds(-ago) + " ahead of ours";
  }
  return e.holders.size() == 1 ? text : text + ", and by " + std::to_string(e.holders.size() - 1) + " more";
}

std::string away(const event& e) {
  return e.lasted > e.lasted.zero() ? ", away for " + in_seconds(e.lasted) : std::string{};
}

std::string in_words(const event& e) {
  const auto name = core::quoted(e.name);
  const auto words = e.words.empty() ? std::string{} : ": " + core::printable(e.words);
  switch (e.kind) {
    case event_kind::lost:
      return name + " is lost after " + in_seconds(e.lasted) + ": " + std::string{in_words(*e.reason)} + words;
    case event_kind::revoked: return "somebody asks for " + name + ", held for " + in_seconds(e.lasted) + words;
    case event_kind::slow_wait:
      return name + " has been waited for at " + core::printable(e.site) + " for " + in_seconds(e.lasted) +
             (e.waiters == 1 ? "" : ", by " + std::to_string(e.waiters) + " callers") + who_holds(e);
    case event_kind::connected: return "connected to " + e.server + away(e);
    case event_kind::server_changed: return "connected to another server, " + e.server + away(e);
    case event_kind::disconnected: return "disconnected" + words;
    case event_kind::clock_jumped: return core::printable(e.words) + " (" + in_seconds(e.lasted) + ')';
  }
  return {};
}

std::string server_in_words(const engine::server_facts& s) {
  if (s.id.empty()) return core::printable(s.version);
  return core::printable(s.version.empty() ? s.id : s.id + ' ' + s.version);
}

event public_form(runtime::event&& from, bool tokens) {
  event e;
  e.kind = from.kind;
  e.when = from.when;
  if (from.what) e.name = from.what->name;
  e.group = std::move(from.group);
  if (from.who) e.id = id_of(from.who, from.handoffs);
  if (tokens && from.token != 0) e.token = from.token;
  e.reason = from.reason;
  e.lasted = std::chrono::duration_cast<std::chrono::milliseconds>(from.lasted);
  e.waiters = from.waiters;
  if (e.kind == event_kind::slow_wait) e.site = core::site_of(from.where);
  for (auto& h : from.holders) e.holders.push_back(describe(std::move(h.seen), tokens, h.handoffs));
  e.server = server_in_words(from.server);
  e.words = std::move(from.words);
  e.text = in_words(e);
  return e;
}

}  // namespace

runtime::event_line::hook telling(event_hook to, bool tokens) {
  if (!to) return nullptr;
  return [to = std::move(to), tokens](runtime::event&& from, std::uint64_t left_out) {
    try {
      event e = public_form(std::move(from), tokens);
      e.left_out = left_out;
      to(e);
    } catch (...) {  // only this event is lost
    }
  };
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
