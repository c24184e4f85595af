#include "engines/redis/locks/listing.hpp"

#include "engines/redis/deployment/scan.hpp"
#include "engines/redis/locks/answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

namespace tyer::redis {

namespace {

constexpr std::uint32_t waiters_shown_max = 1000;
constexpr std::size_t words_per_entry = 7;  // as show.lua answers

// Also if some keys of a name are not on the node of its state, see whole.lua.
const engine::failure* trouble(const received& r) {
  static const auto torn = moving();
  return r.wrong == nullptr && r.words.size() == 1 ? &torn : r.wrong;
}

struct listing {
  engine::page found;
  engine::reply<engine::page> back;
  engine::time_point sent;
  engine::failure wrong;
  bool failed = false;
  std::size_t awaited = 0;

  void done() {
    if (failed)
      back({sent, std::move(wrong)});
    else
      back({sent, std::move(found)});
  }
};

template <class T>
T number(std::string_view text) {
  T n{};
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

void add_entries(engine::page& p, const std::string& name, std::span<const std::string_view> words) {
  for (; words.size() >= words_per_entry; words = words.subspan(words_per_entry)) {
    engine::entry e;
    e.who = core::id::from(words[1]);
    e.name = name;
    e.what = words[0] == "h" ? engine::fate::holding : engine::fate::waiting;
    e.how = mode_of(words[2]);
    e.left = std::chrono::milliseconds{number<std::int64_t>(words[3])};
    e.part = number<std::uint64_t>(words[4]);
    e.slots = parse_slots(words[5]).value_or(std::vector<std::uint32_t>{});
    e.owner = std::string{words[6]};
    p.entries.push_back(std::move(e));
  }
}

void show(deployment& c, commands& words, const script& how, std::string_view key, const std::string& name,
          const std::shared_ptr<listing>& l) {
  ++l->awaited;
  c.call(how, words.show(key, waiters_shown_max), [l, name](const received& r) {
    if (const auto* wrong = trouble(r)) {
      l->failed = true;
      l->wrong = *wrong;
    } else {
      add_entries(l->found, name, r.words);
    }
    if (--l->awaited == 0) l->done();
  });
}

}  // namespace

void show(deployment& c, commands& words, const script& how, std::string_view name, engine::reply<engine::page> back) {
  const auto key = words.names().state(name);
  c.call(how, words.show(key, waiters_shown_max),
         [name = std::string{name}, back = std::move(back)](const received& r) mutable {
           if (const auto* wrong = trouble(r)) return back({r.sent, *wrong});
           engine::page p;
           add_entries(p, name, r.words);
           back({r.sent, std::move(p)});
         });
}

void list(deployment& c, commands& words, const script& how, std::string_view prefix, std::string_view cursor,
          std::uint32_t limit, engine::reply<engine::page> back) {
  auto l = std::make_shared<listing>();
  l->back = std::move(back);
  const auto pattern = words.names().pattern(prefix);
  const auto count = std::to_string(std::clamp<std::uint32_t>(limit, 10, 1000));
  const std::array<std::string_view, 4> which{"MATCH", pattern, "COUNT", count};
  scan(c, cursor, which, [l, &c, &words, &how](const scanned& s) {
    l->sent = s.sent;
    l->found.cursor = s.cursor;
    if (s.wrong != nullptr) {
      l->failed = true;
      l->wrong = *s.wrong;
    }
    for (const auto key : s.keys) {
      if (const auto name = words.names().name_of(key)) show(c, words, how, key, *name, l);
    }
    if (l->awaited == 0) l->done();
  });
}

}  // namespace tyer::redis
