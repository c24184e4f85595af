#include "recipes/fnv.hpp"
#include "recipes/waiting.hpp"

#include <tyer/fence.hpp>
#include <tyer/recipes/redis_store.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using std::chrono::milliseconds;

namespace {

// KEYS: the value, its fence. All answers are arrays of strings: {} or {value, milliseconds}, preceded by whether the token
// was let in.
constexpr std::string_view look =
    "local function look()\n"
    "  local value, left = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])\n"
    "  if not value or left <= 0 then return {} end\n"
    "  return {value, tostring(left)}\n"
    "end\n";
// ARGV: token, mode and id of the hold; how long its fence is kept.
constexpr std::string_view show =
    "if not tyer_fence(KEYS[2], ARGV[1], ARGV[2], ARGV[3]) then return {'refused'} end\n"
    "redis.call('PEXPIRE', KEYS[2], ARGV[4])\n";
// Then the value, and how long it is good.
constexpr std::string_view write =
    "if ARGV[6] == '0' then redis.call('DEL', KEYS[1])\n"
    "else redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[6]) end\n"
    "return {'in'}\n";
constexpr std::string_view read =
    "local there = look()\n"
    "table.insert(there, 1, 'in')\n"
    "return there\n";

std::string script(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const auto p : parts) text += p;
  return text;
}

[[noreturn]] void not_an_answer() {
  throw error({errc::refused,
               "redis_store: unexpected answer to the script; `eval` must return the array of strings unchanged"});
}

std::optional<found> value_in(std::vector<std::string>& answer, std::size_t at) {
  if (answer.size() == at) return {};
  milliseconds::rep left = 0;
  if (answer.size() != at + 2) not_an_answer();
  const std::string& text = answer[at + 1];
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), left);
  if (wrong != std::errc{} || end != text.data() + text.size()) not_an_answer();
  return found{std::move(answer[at]), milliseconds{left}};
}

bool let_in(const std::vector<std::string>& answer) {
  if (answer.empty() || (answer.front() != "in" && answer.front() != "refused")) not_an_answer();
  return answer.front() == "in";
}

// Users write milliseconds::max() for "for ever"; the server refuses a time that overflows when its clock is added.
std::string at_most_for_ever(milliseconds d) {
  constexpr milliseconds for_ever = std::chrono::hours{24 * 365 * 100};
  return std::to_string(std::clamp(d, milliseconds::zero(), for_ever).count());
}

std::vector<std::string> arguments_of(const fence_pass& shown, milliseconds kept_for) {
  auto [token, mode, id] = redis_fence_arguments(shown);
  return {std::move(token), std::move(mode), std::move(id), at_most_for_ever(kept_for)};
}

// Of the first { and the } behind it a cluster takes what is between as the tag. So a prefix has a whole one of its own, or none.
bool leaves_the_tag(std::string_view prefix) {
  const auto begin = prefix.find('{');
  if (begin == prefix.npos) return true;
  const auto end = prefix.find('}', begin);
  return end != prefix.npos && end > begin + 1;
}

}  // namespace

redis_store::redis_store(redis_eval eval, std::string_view prefix, milliseconds fence_kept_for)
    : eval_(std::move(eval)), prefix_(prefix), fence_kept_for_(fence_kept_for) {
  detail::require(eval_ != nullptr, "a redis_store needs a function that runs a script");
  detail::require(fence_kept_for.count() > 0, "fence_kept_for must be above 0");
  detail::require(leaves_the_tag(prefix_), "a { in the prefix must have something and a } behind it");
}

// A key may contain braces, so the {tag} is made from its hash.
std::vector<std::string> redis_store::keys_of(std::string_view key) const {
  std::string tagged = "{";
  tagged.append(std::to_string(detail::fnv1a(key))).append("}");
  return {(prefix_ + "value:" + tagged).append(key), (prefix_ + "fence:" + tagged).append(key)};
}

std::optional<found> redis_store::find(std::string_view key) {
  static const auto text = script({look, "return look()\n"});
  auto answer = eval_(text, {keys_of(key).front()}, {});
  return value_in(answer, 0);
}

entered redis_store::enter(std::string_view key, const fence_pass& shown) {
  static const auto text = script({redis_fence_function, look, show, read});
  auto answer = eval_(text, keys_of(key), arguments_of(shown, fence_kept_for_));
  if (!let_in(answer)) return {};
  return {true, value_in(answer, 1)};
}

bool redis_store::put(std::string_view key, const fence_pass& shown, const fresh& made) {
  static const auto text = script({redis_fence_function, show, write});
  auto arguments = arguments_of(shown, fence_kept_for_);
  arguments.push_back(made.value);
  arguments.push_back(at_most_for_ever(made.lives_for));
  return let_in(eval_(text, keys_of(key), arguments));
}

bool redis_store::erase(std::string_view key, const fence_pass& shown) { return put(key, shown, {}); }

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
