// The table of instruments, and how each is read from the stats. Only this table decides what an exporter shows.
#include <tyer/stats.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

using enum instrument_kind;

// ---- the values of labels

struct acquire_words {
  std::string_view outcome, via;
};
constexpr stats_by<acquire_end, acquire_words> acquire_said{{{{"acquired", "engine"},
                                                              {"acquired", "queue"},
                                                              {"acquired", "handoff"},
                                                              {"busy", ""},
                                                              {"timed_out", ""},
                                                              {"cancelled", ""},
                                                              {"unavailable", ""},
                                                              {"refused", ""},
                                                              {"closed", ""},
                                                              {"failed", ""}}}};
constexpr stats_by<loss_reason, std::string_view> loss_said{{{"deadline", "gone", "max_hold", "closed"}}};
constexpr stats_by<engine_request, std::string_view> request_said{
    {{"acquire", "keep", "release", "convert", "confirm", "look", "query"}}};
constexpr stats_by<request_end, std::string_view> end_said{{{"answered", "failed"}}};
constexpr stats_by<reconnection, std::string_view> server_said{{{"same", "other"}}};
constexpr stats_by<limit_set_by, std::string_view> limit_said{{{"client", "engine"}}};

// ---- how they are read

using values = std::array<std::string_view, 3>;

class writer {
 public:
  writer(const instrument& of, std::vector<sample>& to) noexcept : of_(of), to_(to) {}
  void number(const values& v, double n) { to_.push_back({&of_, v, n, nullptr}); }
  void number(const values& v, std::uint64_t n) { number(v, static_cast<double>(n)); }
  void durations(const values& v, const duration_histogram& h) { to_.push_back({&of_, v, 0, &h}); }

 private:
  const instrument& of_;
  std::vector<sample>& to_;
};

template <class Key>
void numbers(writer& w, const stats_by<Key, std::string_view>& said, const stats_by<Key, std::uint64_t>& n) {
  for (std::size_t i = 0; i < n.all.size(); ++i) w.number({said.all[i]}, n.all[i]);
}

void acquire_duration(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) {
    for (std::size_t i = 0; i < g.acquire_duration.all.size(); ++i) {
      const auto& [outcome, via] = acquire_said.all[i];
      w.durations({g.name, outcome, via}, g.acquire_duration.all[i]);
    }
  }
}
void hold_duration(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) w.durations({g.name}, g.hold_duration);
}
void holds(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) w.number({g.name}, g.holds);
}
void waiters(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) w.number({g.name}, g.waiters);
}
void losses(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) {
    for (std::size_t i = 0; i < g.losses.all.size(); ++i) w.number({g.name, loss_said.all[i]}, g.losses.all[i]);
  }
}
void handoffs(const client_stats& s, writer& w) {
  for (const auto& g : s.groups) w.number({g.name}, g.acquire_duration[acquire_end::handed_off].count());
}
void renewal_lag(const client_stats& s, writer& w) { w.durations({}, s.renewal_lag); }
void renewal_remaining(const client_stats& s, writer& w) { w.durations({}, s.renewal_remaining); }
void remaining_min(const client_stats& s, writer& w) {
  if (s.remaining_min) w.number({}, std::chrono::duration<double>(*s.remaining_min).count());
}
void request_duration(const client_stats& s, writer& w) {
  for (std::size_t i = 0; i < s.request_duration.all.size(); ++i) {
    const auto& ends = s.request_duration.all[i];
    for (std::size_t how = 0; how < ends.all.size(); ++how) {
      w.durations({request_said.all[i], end_said.all[how]}, ends.all[how]);
    }
  }
}
void reconnects(const client_stats& s, writer& w) { numbers(w, server_said, s.reconnects); }
void over_limit(const client_stats& s, writer& w) { numbers(w, limit_said, s.over_limit); }

// ---- the table

using keys = std::string_view;
constexpr keys of_acquire[] = {"group", "outcome", "via"};
constexpr keys of_group[] = {"group"};
constexpr keys of_loss[] = {"group", "reason"};
constexpr keys of_request[] = {"operation", "outcome"};
constexpr keys of_reconnect[] = {"server"};
constexpr keys of_limit[] = {"by"};
constexpr std::span<const keys> of_client{};

constexpr instrument table[] = {
    {"tyer.acquire.duration", "s", histogram, of_acquire, "How long acquires took, by how they ended."},
    {"tyer.hold.duration", "s", histogram, of_group, "How long locks were held until they were given back or lost."},
    {"tyer.holds", "{hold}", gauge, of_group, "Locks that are held now."},
    {"tyer.waiters", "{caller}", gauge, of_group, "Callers that have no answer yet."},
    {"tyer.losses", "{hold}", counter, of_loss, "Holds that were lost."},
    {"tyer.handoffs", "{hold}", counter, of_group,
     "Locks that went to the next caller of this client without the engine."},
    {"tyer.renewal.lag", "s", histogram, of_client, "How much later than planned renewals of holds were asked for."},
    {"tyer.renewal.remaining", "s", histogram, of_client,
     "How long holds were still valid when their renewal was confirmed."},
    {"tyer.renewal.remaining.min", "s", gauge, of_client, "The smallest of those since the client was made."},
    {"tyer.engine.request.duration", "s", histogram, of_request, "How long the engine took to answer."},
    {"tyer.reconnects", "{connection}", counter, of_reconnect,
     "Times the engine was away and came back, as the same server or as another."},
    {"tyer.over_limit", "{request}", counter, of_limit, "Requests turned away because a limit was reached."},
};

constexpr void (*readers[])(const client_stats&, writer&) = {
    acquire_duration, hold_duration,     holds,         waiters,          losses,     handoffs,
    renewal_lag,      renewal_remaining, remaining_min, request_duration, reconnects, over_limit,
};
static_assert(std::size(readers) == std::size(table));

}  // namespace

std::span<const instrument> instruments() noexcept { return table; }

std::vector<sample> samples(const client_stats& s) {
  std::vector<sample> all;
  for (std::size_t i = 0; i < std::size(table); ++i) {
    writer w{table[i], all};
    readers[i](s, w);
  }
  return all;
}

}  // namespace v1
}  // namespace tyer
