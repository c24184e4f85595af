// Any bytes are a name, and no name is another.
#include "contract/engine/harness.hpp"

#include <algorithm>

namespace tyer::contract {

namespace {

std::vector<std::string> hostile_names() {
  using namespace std::string_literals;
  std::vector<std::string> names{
      "a",        "a/b",      "a/",       "/a",           "a:b",   "a::b", "A", " a",   "a ", "\0"s,   "a\0b"s, "a\0"s,
      "\r\n",     "a\r\nb",   "a\nb",     "{a}",          "{a}b",  "}{",   "{", "}",    "{}", "{{a}}", "a}b",   "*",
      "?",        "[a]",      "a*",       "\\",           "\\x00", "%00",  "%", "'",    "\"", "`",     "a';--", "$1",
      "\xff\xfe", "\xc3\x28", "\xc3\xa4", "\x80",         "é",     "..",   ".", "../a", "-1", "0",     "00",    "1e3",
      "nil",      "KEYS[1]",  "a\tb",     "redis.call()", "\x01",  "\x7f"};
  names.push_back(std::string(1024, 'x'));
  names.push_back(std::string(1023, 'x') + "y");
  names.push_back(std::string(1023, 'x'));
  names.push_back(std::string(1024, '\0'));
  names.push_back(std::string(1024, '\xff'));
  // What an engine may append to a name of its own must not be reachable from a name.
  for (const char* suffix : {":queue", ":q", ":waiters", ":holds", ":h", ":token", ":t", ":fence", "/lock"}) {
    names.push_back(std::string{"a"} + suffix);
  }
  return names;
}

}  // namespace

using names_contract = engine_contract;

TEST_F(names_contract, are_unique_in_this_test) {
  auto names = hostile_names();
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_F(names_contract, do_not_collide) {
  std::vector<want> held;
  for (const auto& name : hostile_names()) {
    SCOPED_TRACE(::testing::PrintToString(name));
    const auto w = a.wants(name);
    ASSERT_NO_THROW(a.lock(w));
    held.push_back(w);
  }
  for (const auto& w : held) {
    SCOPED_TRACE(::testing::PrintToString(w.name));
    EXPECT_NO_THROW(b.find_busy(b.wants(w.name)));
    EXPECT_EQ(a.release(w), fate::holding);
    EXPECT_TRUE(b.could_lock(b.wants(w.name)));
  }
}

TEST_F(names_contract, do_not_collide_in_the_queue) {
  if (!can().queue) return;
  std::vector<std::pair<want, want>> pairs;
  for (const auto& name : hostile_names()) {
    SCOPED_TRACE(::testing::PrintToString(name));
    pairs.emplace_back(a.wants(name), b.waits(name));
    ASSERT_NO_THROW(a.lock(pairs.back().first));
    ASSERT_EQ(b.enqueue(pairs.back().second).ahead, 0u);
  }
  for (const auto& [holder, waiter] : pairs) {
    SCOPED_TRACE(::testing::PrintToString(holder.name));
    EXPECT_EQ(a.release(holder), fate::holding);
    EXPECT_NO_THROW(b.lock(waiter));
  }
}

TEST_F(names_contract, come_back_from_a_listing_as_they_were) {
  if (!a.lists()) return;
  auto expected = hostile_names();
  for (const auto& name : expected) a.lock(a.wants(name));
  std::vector<std::string> names;
  for (const auto& e : b.list("", 20)) names.push_back(e.name);
  std::ranges::sort(expected);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  EXPECT_EQ(names, expected);
}

TEST_F(names_contract, a_prefix_is_not_a_pattern) {
  if (!a.lists()) return;
  for (const char* name : {"*/1", "?/1", "[x]/1", "x/1", "\\/1"}) a.lock(a.wants(name));
  for (const char* name : {"*/", "?/", "[x]/", "\\/"}) {
    const auto found = b.list(name, 20);
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found.front().name, std::string{name} + "1");
  }
}

}  // namespace tyer::contract
