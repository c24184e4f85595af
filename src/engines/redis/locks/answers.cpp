#include "engines/redis/locks/answers.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace tyer::redis {

using engine::failure;
using engine::fate;
using engine::why;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

failure nonsense(std::string_view text) {
  return {why::unknown, make_error_code(errc::outcome_unknown),
          "the server gave an answer that no script of Tyer gives (" + std::to_string(text.size()) + " bytes)"};
}

failure conflict() {
  return {why::name_conflict, make_error_code(errc::name_conflict),
          "the key of this name holds something that is not a Tyer lock, or one of a newer version"};
}

}  // namespace

failure moving() {
  return {why::not_sent, make_error_code(errc::unavailable),
          "the slot of this name is being moved to another node of the cluster; nothing was done"};
}

namespace {

// Takes digits from the front of the text.
template <class T>
bool take_number(std::string_view& text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T n{};
  if (!take_number(text, n) || !text.empty()) return std::nullopt;
  return n;
}

std::optional<fate> fate_of(char c) {
  switch (c) {
    case 'h': return fate::holding;
    case 'w': return fate::waiting;
    case 'g': return fate::gone;
  }
  return std::nullopt;
}

// "number milliseconds", and nothing more.
template <class Number>
bool read_pair(std::string_view text, Number& number, milliseconds& time) {
  milliseconds::rep ms = 0;
  if (!take_number(text, number) || !text.starts_with(' ')) return false;
  text.remove_prefix(1);
  if (!take_number(text, ms) || !text.empty()) return false;
  time = milliseconds{ms};
  return true;
}

std::optional<engine::answer> parse_queued(std::string_view text) {
  engine::queued q;
  if (!read_pair(text, q.ahead, q.look_again)) return std::nullopt;
  return q;
}

std::optional<engine::answer> parse_permits(std::string_view text, milliseconds ttl) {
  engine::granted g{0, ttl};
  if (!take_number(text, g.part) || !text.starts_with(' ')) return std::nullopt;
  auto slots = parse_slots(text.substr(1));
  if (!slots) return std::nullopt;
  g.slots = *std::move(slots);
  return g;
}

std::optional<engine::answer> parse_converted(std::string_view text) {
  engine::granted g;
  if (!read_pair(text, g.part, g.ttl)) return std::nullopt;
  return g;
}

// A refusal, with its message.
std::optional<failure> parse_refusal(std::string_view text) {
  switch (text.front()) {
    case 'c': return conflict();
    case 'd': return moving();
    case 'o': return failure{why::over_limit, make_error_code(errc::over_limit), "too many wait for this name"};
    case 'h':
      return failure{why::over_limit, make_error_code(errc::over_limit),
                     std::to_string(holders_max) + " hold this name already"};
    case 'p':
      return failure{why::refused, make_error_code(errc::refused),
                     "the tokens of this name are used up: a client has seen one close to 2^53"};
    case 'm':
      return failure{why::refused, make_error_code(errc::refused),
                     "this id holds the lock, or waits for it, in another mode"};
    case 'g': return failure{why::refused, make_error_code(errc::lost), "there is no such hold to convert"};
    case 'u': return failure{why::unsupported, make_error_code(errc::unsupported), "permits cannot be converted"};
    case 'n':
      if (const auto n = whole_number<std::uint32_t>(text.substr(1))) {
        return failure{why::refused, make_error_code(errc::permits_differ),
                       "this name is in use with " + std::to_string(*n) + " permits, not with the requested number"};
      }
      break;
  }
  return std::nullopt;
}

struct meaning {
  std::string_view code;
  why kind;
  errc code_for_people;
  std::string_view advice;
};

// All of these refuse before a script begins or at its first write, so nothing was done.
constexpr std::array meanings{
    meaning{"LOADING", why::not_sent, errc::unavailable, "the server is still loading its data"},
    meaning{"MASTERDOWN", why::not_sent, errc::unavailable, "a replica that has lost its primary"},
    meaning{"READONLY", why::not_sent, errc::unavailable, "a replica; connect to the primary"},
    meaning{"MOVED", why::not_sent, errc::unavailable, "the slot has moved"},
    meaning{"ASK", why::not_sent, errc::unavailable, "the slot is being moved"},
    meaning{"TRYAGAIN", why::not_sent, errc::unavailable, "the keys are being moved"},
    meaning{"CLUSTERDOWN", why::not_sent, errc::unavailable, "the cluster is down"},
    meaning{"BUSY", why::not_sent, errc::unavailable, "the server is busy running a script"},
    meaning{"EXECABORT", why::not_sent, errc::unavailable, ""},
    meaning{"OOM", why::not_sent, errc::unavailable, "the server is out of memory; raise maxmemory"},
    meaning{"MISCONF", why::not_sent, errc::unavailable, "the server cannot persist and refuses writes"},
    meaning{"NOREPLICAS", why::not_sent, errc::unavailable, "too few replicas"},
    meaning{"NOSCRIPT", why::not_sent, errc::unavailable, ""},
    meaning{"NOAUTH", why::refused, errc::refused, "give user and password in the URI"},
    meaning{"WRONGPASS", why::refused, errc::refused, "check user and password in the URI"},
    meaning{"NOPERM", why::refused, errc::refused, ""},
};

}  // namespace

std::variant<engine::answer, too_late, failure> parse_acquire(std::string_view text, milliseconds ttl) {
  if (text.empty()) return nonsense(text);
  if (text.front() >= '0' && text.front() <= '9') {
    if (const auto part = whole_number<std::uint64_t>(text)) return engine::granted{*part, ttl, {}};
    return nonsense(text);
  }
  const auto rest = text.substr(1);
  switch (text.front()) {
    case 'q':
      if (const auto q = parse_queued(rest)) return *q;
      break;
    case 'b':
      if (const auto ms = whole_number<milliseconds::rep>(rest)) return engine::busy{milliseconds{*ms}};
      break;
    case 'l':
      if (const auto us = whole_number<microseconds::rep>(rest)) return too_late{microseconds{*us}};
      break;
    case 's':
      if (auto g = parse_permits(rest, ttl)) return *std::move(g);
      break;
    case 't':
      if (const auto g = parse_converted(rest)) return *g;
      break;
    default:
      if (auto f = parse_refusal(text)) return *std::move(f);
  }
  return nonsense(text);
}

std::optional<std::vector<std::uint32_t>> parse_slots(std::string_view runs) {
  std::vector<std::uint32_t> slots;
  while (!runs.empty()) {
    std::uint32_t first = 0, last = 0;
    if (!take_number(runs, first) || !runs.starts_with('-')) return std::nullopt;
    runs.remove_prefix(1);
    if (!take_number(runs, last) || first > last || last >= capacity_max) return std::nullopt;
    for (auto slot = first; slot <= last; ++slot) slots.push_back(slot);
    if (slots.size() > capacity_max) return std::nullopt;
    if (runs.starts_with(' ')) runs.remove_prefix(1);
  }
  return slots;
}

std::variant<fate, failure> parse_fate(std::string_view text) {
  if (text == "c") return conflict();
  if (text == "d") return moving();
  if (text.size() == 1) {
    if (const auto f = fate_of(text.front())) return *f;
  }
  return nonsense(text);
}

std::variant<engine::kept, failure> parse_kept(std::string_view text, std::size_t count,
                                               std::chrono::milliseconds ttl) {
  if (text.size() != count) return nonsense(text);
  engine::kept all{{}, ttl};
  all.fates.reserve(count);
  for (const char c : text) {
    if (c == 'd') return moving();
    const auto f = c == 'u' ? fate::unknown : fate_of(c);
    if (!f) return nonsense(text);
    all.fates.push_back(*f);
  }
  return all;
}

std::variant<std::uint32_t, failure> parse_count(std::string_view text) {
  if (text == "c") return conflict();
  if (text == "d") return moving();
  if (const auto n = whole_number<std::uint32_t>(text)) return *n;
  return nonsense(text);
}

namespace {

// Older servers put the error of a failed call inside the error of the script: `… @user_script: 9: -READONLY You can't
// write…`
std::string_view code_of(std::string_view error) {
  const auto first_word = [](std::string_view text) { return text.substr(0, text.find(' ')); };
  const auto at = error.rfind(": -");
  if (at == error.npos) return first_word(error);
  const auto inner = first_word(error.substr(at + 3));
  const bool known = std::ranges::any_of(meanings, [&](const meaning& m) { return m.code == inner; });
  return known ? inner : first_word(error);
}

// A permission that turns out to be missing while the script runs: reported as `ERR …`, in different words. Redis 6.2 and
// 7.0 say the first, Redis since 7.2 and Valkey the second.
bool is_not_permitted_inside(std::string_view error) {
  return error.find("The user executing the script can't") != error.npos ||
         error.find("ACL failure in script") != error.npos ||
         (error.starts_with("NOPERM") && error.find("@user_script") != error.npos);
}

}  // namespace

namespace {

// What to allow, in the syntax of ACL SETUSER, as far as the server says what it has refused.
std::string grant_missing(std::string_view error) {
  constexpr std::string_view before = "run the '", behind = "' command";
  const auto at = error.find(before), end = error.find(behind);
  if (at != error.npos && end != error.npos && at + before.size() < end) {
    const auto command = error.substr(at + before.size(), end - at - before.size());
    return "this user lacks +" + std::string{command};
  }
  if (error.find("channel") != error.npos) return "this user lacks the channels of the prefix: &PREFIX*";
  if (error.find("key") != error.npos) return "this user lacks the keys of the prefix: ~PREFIX*";
  return "this user lacks a command of the scripts";
}

std::string with_grant(std::string_view error) {
  return std::string{error} + " (" + grant_missing(error) +
         "; all that it needs: docs/engines/redis.md, Least privilege)";
}

}  // namespace

failure refusal(std::string_view error) {
  if (error.find("WRONGTYPE") != error.npos) return conflict();
  // A retry is useless; but what the script did before stays done.
  if (is_not_permitted_inside(error)) return {why::unknown, make_error_code(errc::refused), with_grant(error)};
  const auto code = code_of(error);
  for (const auto& m : meanings) {
    if (m.code != code) continue;
    std::string words = code == "NOPERM" ? with_grant(error) : std::string{error};
    if (!m.advice.empty()) words += " (" + std::string{m.advice} + ")";
    return {m.kind, make_error_code(m.code_for_people), std::move(words)};
  }
  // A script that failed half-way: what it did stays done.
  return {why::unknown, make_error_code(errc::outcome_unknown), std::string{error}};
}

bool is_noscript(std::string_view error) { return error.starts_with("NOSCRIPT"); }

bool is_redirection(std::string_view error) { return error.starts_with("MOVED ") || error.starts_with("ASK "); }

bool ends_connection(std::string_view error) {
  const auto code = code_of(error);
  return code == "READONLY" || code == "NOAUTH" || code == "MASTERDOWN";
}

}  // namespace tyer::redis
