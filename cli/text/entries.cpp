#include "text/entries.hpp"

#include "run/once.hpp"
#include "run/runner.hpp"
#include "text/duration.hpp"
#include "text/plain.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

namespace cli {

namespace {

const std::string not_known = "-";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::uint64_t handoffs_in_a_token = 256;  // the lowest 8 bits of a token; the rest is the engine's part
constexpr std::uint64_t part_max = (std::uint64_t{1} << 53) - 1;
constexpr auto longest_believed = std::chrono::hours{24 * 366 * 10}, clocks_apart_max = std::chrono::hours{1};

milliseconds since(system_clock::time_point t) {
  return std::max(std::chrono::duration_cast<milliseconds>(system_clock::now() - t), milliseconds::zero());
}

std::string count(std::size_t n, const char* one, const char* many) {
  return std::to_string(n) + ' ' + (n == 1 ? one : many);
}

}  // namespace

std::string who(const tyer::lock_entry& e) {
  const auto& o = e.owner;
  if (o.host.empty()) return o.text.empty() ? "not known" : plain(first_line(o.text));
  if (const auto r = read_label(o.label)) return process(e) + ' ' + plain(r->user) + ": " + plain(r->command);
  return process(e) + (o.label.empty() ? "" : ' ' + plain(o.label));
}

std::string process(const tyer::lock_entry& e) { return plain(e.owner.host) + " pid " + std::to_string(e.owner.pid); }

std::string where(const tyer::lock_entry& e) { return e.owner.site.empty() ? not_known : plain(e.owner.site); }

std::string age(const tyer::lock_entry& e) {
  const auto d = asked_for(e);
  return d ? shown(*d) : not_known;
}

std::optional<milliseconds> asked_for(const tyer::lock_entry& e) {
  return e.owner.since ? std::optional{since(*e.owner.since)} : std::nullopt;
}

std::optional<milliseconds> held_for(const tyer::lock_entry& e) {
  if (e.waiting || !e.token) return std::nullopt;
  const auto part = *e.token / handoffs_in_a_token;
  if (part > part_max) return std::nullopt;  // anybody who can write to the engine can write any number
  const system_clock::time_point granted{std::chrono::microseconds{part}};
  const auto now = system_clock::now();
  // Otherwise it is a counter, as on etcd, or was made while the server's clock was wrong.
  const bool is_a_time = granted > now - longest_believed && granted < now + clocks_apart_max;
  return is_a_time ? std::optional{since(granted)} : std::nullopt;
}

std::string held(const tyer::lock_entry& e) {
  const auto d = held_for(e);
  return d ? shown(*d) : not_known;
}

std::string left(const tyer::lock_entry& e) { return shown(e.remaining); }

std::string how(const tyer::lock_entry& e) {
  switch (e.mode) {
    case tyer::lock_mode::exclusive: return "exclusive";
    case tyer::lock_mode::shared: return "shared";
    case tyer::lock_mode::permit: break;
  }
  if (e.slot_numbers.empty()) return "permit";
  std::string text = e.slot_numbers.size() == 1 ? "slot" : "slots";
  for (const auto& s : e.slot_numbers) text += (&s == &e.slot_numbers.front() ? " " : ", ") + std::to_string(s);
  return text;
}

std::string token(const tyer::lock_entry& e) { return e.token ? std::to_string(*e.token) : not_known; }

std::size_t waiting(const entries& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, &tyer::lock_entry::waiting));
}

std::string state(const entries& of_one_name) {
  const auto waiters = waiting(of_one_name);
  const auto holders = of_one_name.size() - waiters;
  if (holders == 0) return "free";
  if (once_per::is_memory(of_one_name.front())) return "kept";
  switch (of_one_name.front().mode) {
    case tyer::lock_mode::exclusive: return "held";
    case tyer::lock_mode::shared: return "shared by " + std::to_string(holders);
    case tyer::lock_mode::permit: break;
  }
  std::size_t permits = 0;
  for (const auto& e : of_one_name) permits += e.waiting ? 0 : std::max<std::size_t>(e.slot_numbers.size(), 1);
  return count(permits, "permit", "permits");
}

std::vector<lock> list_all(const tyer::admin& admin, const std::string& prefix, const std::function<void()>& between) {
  return list_up_to(admin, prefix, std::numeric_limits<std::size_t>::max(), between).locks;
}

listing list_up_to(const tyer::admin& admin, const std::string& prefix, std::size_t entries_max,
                   const std::function<void()>& between) {
  entries all;
  std::string cursor;
  do {
    auto page = admin.list(prefix, cursor, static_cast<std::uint32_t>(std::min<std::size_t>(entries_max, 1000)));
    std::ranges::move(page.entries, std::back_inserter(all));
    cursor = std::move(page.cursor);
    if (between) between();
  } while (!cursor.empty() && all.size() < entries_max);
  return {by_name(std::move(all)), cursor.empty()};
}

std::vector<lock> list_some(const tyer::admin& admin) {
  constexpr std::chrono::milliseconds moment{500};
  const auto until = std::chrono::steady_clock::now() + moment;
  entries all;
  std::string cursor;
  do {
    tyer::failure why;
    auto page = admin.list(why, {}, cursor, 1000);
    std::ranges::move(page.entries, std::back_inserter(all));
    cursor = std::move(page.cursor);
  } while (!cursor.empty() && std::chrono::steady_clock::now() < until);
  return by_name(std::move(all));
}

}  // namespace cli
