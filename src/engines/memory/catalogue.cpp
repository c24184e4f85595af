#include "engines/memory/catalogue.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::memory {

namespace {

using engine::entry;

std::vector<entry> live_entries(const std::string& name, const resource& r, store_time now) {
  const auto left = [&](store_time until) { return std::chrono::ceil<milliseconds>(until - now); };
  std::vector<entry> all;
  for (const auto& h : r.holds()) {
    if (h.expires > now) all.push_back({h.who, name, fate::holding, h.how, left(h.expires), h.part, h.owner, h.slots});
  }
  for (const auto& w : r.queue()) {
    if (w.expires > now) all.push_back({w.who, name, fate::waiting, w.how, left(w.expires), 0, w.owner});
  }
  return all;
}

// "3:name": the next page begins at the fourth entry of that name, or at the next name if that one is gone.
std::string make_cursor(std::size_t skip, const std::string& name) { return std::to_string(skip) + ':' + name; }

std::pair<std::size_t, std::string_view> read_cursor(std::string_view cursor, std::string_view prefix) {
  std::size_t skip = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), skip);
  const auto at = static_cast<std::size_t>(end - cursor.data());
  if (error != std::errc{} || at >= cursor.size() || cursor[at] != ':') return {0, prefix};
  return {skip, cursor.substr(at + 1)};
}

}  // namespace

result<answer> catalogue::acquire(std::string_view name, const request& r, store_time now, notices& out) {
  auto at = names_.lower_bound(name);
  const bool fresh = at == names_.end() || at->first != name;
  if (fresh) at = names_.emplace_hint(at, name, resource{limits_});
  auto answered = at->second.acquire(r, now, out);
  if (fresh && std::holds_alternative<engine::failure>(answered)) names_.erase(at);
  sweep(now);
  return answered;
}

fate catalogue::keep(std::string_view name, const id& who, fate as, milliseconds ttl, store_time now, notices& out) {
  resource* r = find(name, now);
  return r != nullptr ? r->keep(who, as, ttl, now, out) : fate::gone;
}

fate catalogue::release(std::string_view name, const id& who, bool clean, store_time now, notices& out) {
  resource* r = find(name, now);
  return r != nullptr ? r->release(who, clean, now, out) : fate::gone;
}

result<answer> catalogue::convert(std::string_view name, const id& who, mode to, store_time now, notices& out) {
  if (resource* r = find(name, now)) return r->convert(who, to, now, out);
  return resource{limits_}.convert(who, to, now, out);  // returns the right error
}

fate catalogue::lift(std::string_view name, const id& who, std::uint64_t part, store_time now, notices& out) {
  resource* r = find(name, now);
  return r != nullptr ? r->lift(who, part, now, out) : fate::gone;
}

std::uint32_t catalogue::ask(std::string_view name, std::string_view reason, store_time now, notices& out) {
  resource* r = find(name, now);
  return r != nullptr ? r->ask(reason, now, out) : 0;
}

fate catalogue::evict(std::string_view name, const id& who, std::string_view reason, store_time now, notices& out) {
  resource* r = find(name, now);
  return r != nullptr ? r->evict(who, reason, now, out) : fate::gone;
}

engine::page catalogue::show(std::string_view name, store_time now) const {
  const auto at = names_.find(name);
  if (at == names_.end()) return {};
  return {live_entries(at->first, at->second, now), {}};
}

engine::page catalogue::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                             store_time now) const {
  engine::page p;
  auto [skip, from] = read_cursor(cursor, prefix);
  for (auto at = names_.lower_bound(from); at != names_.end() && at->first.starts_with(prefix); ++at) {
    auto all = live_entries(at->first, at->second, now);
    std::size_t next = at->first == from ? std::min(skip, all.size()) : 0;
    for (; next < all.size(); ++next) {
      if (p.entries.size() >= limit) {
        p.cursor = make_cursor(next, at->first);
        return p;
      }
      p.entries.push_back(std::move(all[next]));
    }
  }
  return p;
}

fate catalogue::lose(const id& who, store_time now, notices& out) {
  for (auto& [name, r] : names_) {
    const fate was = r.evict(who, "lost on purpose", now, out);
    if (was != fate::gone) return was;
  }
  return fate::gone;
}

census catalogue::count(store_time now) const {
  census c;
  for (const auto& [name, r] : names_) {
    if (r.forgotten_at() <= now) continue;
    const auto all = live_entries(name, r, now);
    const auto holds = static_cast<std::size_t>(std::ranges::count(all, fate::holding, &entry::what));
    ++c.names;
    c.holds += holds;
    c.waiters += all.size() - holds;
    c.tombstones += all.empty() ? 1 : 0;
    c.endless += r.forgotten_at() == store_time::max() ? 1 : 0;
  }
  return c;
}

std::uint64_t catalogue::changes(std::string_view name) const {
  const auto at = names_.find(name);
  return at == names_.end() ? 0 : at->second.changes();
}

resource* catalogue::find(std::string_view name, store_time now) {
  sweep(now);
  const auto at = names_.find(name);
  return at == names_.end() ? nullptr : &at->second;
}

void catalogue::sweep(store_time now) {
  for (int looks = 0; looks < 2 && !names_.empty(); ++looks) {
    auto at = names_.upper_bound(swept_);
    if (at == names_.end()) at = names_.begin();
    swept_ = at->first;
    if (at->second.forgotten_at() <= now) names_.erase(at);
  }
}

}  // namespace tyer::memory
