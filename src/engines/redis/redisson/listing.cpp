#include "engines/redis/redisson/listing.hpp"

#include "engines/redis/deployment/scan.hpp"
#include "engines/redis/locks/keys.hpp"
#include "engines/redis/redisson/failures.hpp"

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
void ask(deployment& c, const script& how, std::string_view key, Back back) {
  const std::array<std::string_view, 3> words{"1", key, fields_max};
  c.call(how, words, std::move(back));
}

void add(deployment& c, const script& how, std::string_view key, std::string name, const std::shared_ptr<listing>& l) {
  ++l->awaited;
  ask(c, how, key, [l, name = std::move(name)](const received& r) {
    // A key that has become something else since the scan is not a lock; that is no failure of the listing.
    if (r.wrong != nullptr && r.wrong->kind != engine::why::name_conflict) l->wrong = *r.wrong;
    if (r.wrong == nullptr) {
      if (auto some = holders(name, r.words)) std::ranges::move(*some, std::back_inserter(l->found.entries));
    }
    if (--l->awaited == 0) l->done();
  });
}

}  // namespace

void show(deployment& c, const layout& where, const script& how, std::string_view name, engine::reply<page> back) {
  ask(c, how, where.key(name), [name = std::string{name}, back = std::move(back)](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, in_our_words(*r.wrong)});
    auto some = holders(name, r.words);
    if (!some) return back({r.sent, conflict()});
    back({r.sent, page{.entries = *std::move(some)}});
  });
}

void list(deployment& c, const layout& where, const script& how, std::string_view prefix, std::string_view cursor,
          std::uint32_t limit, engine::reply<page> back) {
  auto l = std::make_shared<listing>();
  l->back = std::move(back);
  std::string pattern;
  escape_glob(where.key(prefix), pattern);
  pattern += '*';
  const auto count = std::to_string(std::clamp<std::uint32_t>(limit, 10, 1000));
  const std::array<std::string_view, 6> which{"MATCH", pattern, "COUNT", count, "TYPE", "hash"};
  scan(c, cursor, which, [l, &c, &where, &how](const scanned& s) {
    l->sent = s.sent;
    l->found.cursor = s.cursor;
    if (s.wrong != nullptr) l->wrong = *s.wrong;
    for (const auto key : s.keys) {
      if (auto name = where.name_of(key)) add(c, how, key, *std::move(name), l);
    }
    if (l->awaited == 0) l->done();
  });
}

}  // namespace tyer::redis::redisson
