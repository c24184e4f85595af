#include "engines/redis/redisson/listing.hpp"

#include "engines/redis/locks/keys.hpp"
#include "engines/redis/redisson/failures.hpp"
#include "engines/redis/redisson/scripts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tyer::redis::redisson {

namespace {

using engine::page;
using words = std::span<const std::string_view>;

// An RLock has one field, a read-write lock has one for each reader and some more.
constexpr std::string_view fields_max = "1000";

std::int64_t number(std::string_view text) {
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

std::string described(std::string_view field, std::string_view count) {
  return std::string{field} + (count == "1" ? "" : ", entered " + std::string{count} + " times");
}

// Parses the answer of show.lua. Nothing if it is not a lock.
std::optional<std::vector<engine::entry>> holders(const std::string& name, words w) {
  std::vector<engine::entry> all;
  if (w.empty()) return all;
  const std::chrono::milliseconds left{number(w[0])};
  for (w = w.subspan(1); w.size() >= 2; w = w.subspan(2)) {
    if (!looks_like_a_holder(w[0])) return std::nullopt;
    all.push_back({.who = id_of(w[0]).value_or(core::id{}),
                   .name = name,
                   .what = engine::fate::holding,
                   .how = engine::mode::exclusive,
                   .left = left,
                   .owner = described(w[0], w[1])});
  }
  if (all.empty()) return std::nullopt;
  return all;
}

struct listing {
  page found;
  engine::reply<page> back;
  engine::time_point sent;
  std::optional<engine::failure> wrong;
  std::size_t awaited = 0;

  void done() {
    if (wrong)
      back({sent, *std::move(wrong)});
    else
      back({sent, std::move(found)});
  }
};

template <class Back>
void ask(connection& c, std::string_view key, Back back) {
  const std::array<std::string_view, 3> words{"1", key, fields_max};
  c.call(scripts::show, words, std::move(back));
}

void add(connection& c, std::string_view key, std::string name, const std::shared_ptr<listing>& l) {
  ++l->awaited;
  ask(c, key, [l, name = std::move(name)](const received& r) {
    // A key that has become something else since the scan is not a lock; that is no failure of the listing.
    if (r.wrong != nullptr && r.wrong->kind != engine::why::name_conflict) l->wrong = *r.wrong;
    if (r.wrong == nullptr) {
      if (auto some = holders(name, r.words)) std::ranges::move(*some, std::back_inserter(l->found.entries));
    }
    if (--l->awaited == 0) l->done();
  });
}

}  // namespace

void show(connection& c, const layout& where, std::string_view name, engine::reply<page> back) {
  ask(c, where.key(name), [name = std::string{name}, back = std::move(back)](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, in_our_words(*r.wrong)});
    auto some = holders(name, r.words);
    if (!some) return back({r.sent, conflict()});
    back({r.sent, page{.entries = *std::move(some)}});
  });
}

void list(connection& c, const layout& where, std::string_view prefix, std::string_view cursor, std::uint32_t limit,
          engine::reply<page> back) {
  auto l = std::make_shared<listing>();
  l->back = std::move(back);
  std::string pattern;
  escape_glob(where.key(prefix), pattern);
  pattern += '*';
  const auto count = std::to_string(std::clamp<std::uint32_t>(limit, 10, 1000));
  const std::array<std::string_view, 7> scan{
      cursor.empty() ? "0" : cursor, "MATCH", pattern, "COUNT", count, "TYPE", "hash"};
  c.command("SCAN", scan, [l, &c, &where](const received& r) {
    l->sent = r.sent;
    if (r.wrong != nullptr) {
      l->wrong = *r.wrong;
      return l->done();
    }
    if (!r.words.empty() && r.words[0] != "0") l->found.cursor = std::string{r.words[0]};
    for (const auto key : r.words.empty() ? words{} : r.words.subspan(1)) {
      if (auto name = where.name_of(key)) add(c, key, *std::move(name), l);
    }
    if (l->awaited == 0) l->done();
  });
}

}  // namespace tyer::redis::redisson
