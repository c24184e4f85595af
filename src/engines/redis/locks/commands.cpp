#include "engines/redis/locks/commands.hpp"

#include <algorithm>
#include <charconv>

namespace tyer::redis {

namespace {

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void pack_into(const terms& t, std::string& out) {
  put(out, static_cast<std::uint64_t>(t.ttl.count()), 6);
  put(out, static_cast<std::uint64_t>(t.place.count()), 6);
  put(out, static_cast<std::uint64_t>(t.not_after.count()), 7);
  put(out, std::min(t.seen, exact_max), 7);
  put(out, static_cast<std::uint64_t>(t.live.count()), 6);
  put(out, t.waiters_max, 4);
  if (t.how == engine::mode::exclusive && t.lock_delay.count() == 0) return;
  out += letter(t.how);
  put(out, static_cast<std::uint64_t>(t.lock_delay.count()), 6);
  put(out, t.take, 4);
  put(out, t.capacity, 4);
}

}  // namespace

char letter(engine::mode m) noexcept {
  switch (m) {
    case engine::mode::shared: return 's';
    case engine::mode::permit: return 'p';
    case engine::mode::exclusive: break;
  }
  return 'x';
}

engine::mode mode_of(std::string_view letter) noexcept {
  if (letter == "s") return engine::mode::shared;
  return letter == "p" ? engine::mode::permit : engine::mode::exclusive;
}

std::string pack(const terms& t) {
  std::string out;
  pack_into(t, out);
  return out;
}

std::string for_another_clock(std::string_view script, std::string_view packed, std::chrono::microseconds ahead) {
  constexpr std::size_t bytes = 7;
  std::string out{packed};
  const std::size_t at = script == "acquire" ? 12 : script == "convert" ? 1 : out.size();
  if (at + bytes > out.size()) return out;
  std::int64_t time = 0;
  for (std::size_t i = 0; i < bytes; ++i) time = time << 8 | static_cast<unsigned char>(out[at + i]);
  std::string moved;
  put(moved, static_cast<std::uint64_t>(std::max<std::int64_t>(0, time + ahead.count())), bytes);
  return out.replace(at, bytes, moved);
}

std::string_view commands::digits(std::string& buffer, std::int64_t value) {
  buffer.resize(20);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  buffer.resize(static_cast<std::size_t>(end - buffer.data()));
  return buffer;
}

std::string_view commands::key(std::string_view name) {
  key_.clear();
  keys_.state(name, key_);
  return key_;
}

commands::words commands::acquire(const engine::request& r, std::chrono::microseconds not_after) {
  key(r.what.name);
  packed_.clear();
  const auto place = r.enqueue ? std::max(r.waiter_ttl, std::chrono::milliseconds{1}) : std::chrono::milliseconds{0};
  pack_into({.ttl = r.ttl,
             .place = place,
             .not_after = not_after,
             .seen = r.seen,
             .live = live(std::max(r.ttl + r.lock_delay, r.waiter_ttl)),
             .waiters_max = waiters_max_,
             .how = r.what.how,
             .lock_delay = r.lock_delay,
             .take = r.take,
             .capacity = r.capacity},
            packed_);
  who_ = r.what.who.view();
  who_ += r.owner.substr(0, owner_bytes_max);
  words_.assign({"1", key_, who_, packed_});
  return words_;
}

commands::words commands::release(const engine::target& t, bool clean) {
  evict(t);
  if (!clean) words_.push_back("u");
  return words_;
}

commands::words commands::evict(const engine::target& t) {
  key(t.name);
  words_.assign({"1", key_, t.who.view()});
  return words_;
}

commands::words commands::convert(const engine::target& t, engine::mode to, std::chrono::microseconds not_after) {
  evict(t);
  packed_ = letter(to);
  put(packed_, static_cast<std::uint64_t>(not_after.count()), 7);
  words_.push_back(packed_);
  return words_;
}

commands::words commands::lift(const engine::target& t, std::uint64_t part) {
  evict(t);
  packed_.clear();
  put(packed_, std::min(part, exact_max + 1), 7);
  words_.push_back(packed_);
  return words_;
}

commands::words commands::keep(std::span<const engine::target> targets, std::chrono::milliseconds ttl) {
  key_.clear();
  ends_.clear();
  packed_.clear();
  for (const auto& t : targets) {
    keys_.state(t.name, key_);
    ends_.push_back(key_.size());
    packed_ += t.who.view();
  }
  words_.clear();
  words_.push_back({});
  std::size_t begin = 0;
  for (const auto end : ends_) {
    words_.push_back(std::string_view{key_}.substr(begin, end - begin));
    begin = end;
  }
  std::string& numbers = first_;
  numbers = std::to_string(targets.size()) + ' ' + std::to_string(ttl.count());
  const auto cut = numbers.find(' ');
  words_.front() = std::string_view{numbers}.substr(0, cut);
  words_.push_back(std::string_view{numbers}.substr(cut + 1));
  words_.push_back(digits(second_, live(ttl).count()));
  words_.push_back(packed_);
  return words_;
}

commands::words commands::ask(std::string_view name, std::string_view reason) {
  key(name);
  words_.assign({"1", key_, reason.substr(0, owner_bytes_max)});
  return words_;
}

commands::words commands::show(std::string_view key, std::uint32_t waiters_max) {
  key_ = key;
  words_.assign({"1", key_, digits(first_, waiters_max)});
  return words_;
}

}  // namespace tyer::redis
