#include "engines/redis/deployment/diagnosis.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

namespace tyer::redis {

namespace {

std::string_view field(std::string_view info, std::string_view name) {
  const auto at = info.find(std::string{"\n"}.append(name) + ":");
  if (at == info.npos) return {};
  info.remove_prefix(at + name.size() + 2);
  return info.substr(0, info.find('\r'));
}

// 6.2 -> 602
int version_number(std::string_view text) {
  int major = 0, minor = 0;
  const auto [dot, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  if (error != std::errc{} || dot == text.data() + text.size()) return major * 100;
  std::from_chars(dot + 1, text.data() + text.size(), minor);
  return major * 100 + minor;
}

}  // namespace

std::vector<engine::finding> examine(std::string_view info, std::uint32_t clock_jumps, const promises& p) {
  std::vector<engine::finding> findings;
  const auto version = field(info, "redis_version");  // Valkey reports the Redis version that it is compatible with
  if (!version.empty() && version_number(version) < 602) {
    findings.push_back({"the server is Redis " + std::string{version}, "use Redis 6.2 or newer, or Valkey", 3});
  }
  if (field(info, "role") == "slave") {
    findings.push_back({"the server is a replica", "connect to its primary: a replica refuses to write", 3});
  }
  const auto policy = field(info, "maxmemory_policy");
  if (field(info, "maxmemory") != "0" && !policy.empty() && policy != "noeviction") {
    findings.push_back({"maxmemory-policy is " + std::string{policy},
                        "set it to noeviction: under memory pressure the server "
                        "deletes locks that somebody holds",
                        2});
  } else if (!policy.empty() && policy != "noeviction") {
    findings.push_back({"maxmemory-policy is " + std::string{policy} + ", though maxmemory is not set",
                        "set it to noeviction before anybody sets maxmemory", 1});
  }
  if (field(info, "aof_enabled") == "0") {
    findings.push_back({"there is no append-only file",
                        std::string{"a restart of the server forgets who holds what; set appendonly yes and "
                                    "appendfsync always"} +
                            (p.tokens ? ", or be sure that every write is fenced" : ""),
                        2});
  }
  if (field(info, "aof_last_write_status") == "err" || field(info, "rdb_last_bgsave_status") == "err") {
    findings.push_back({"the server could not write to its disk", "check the server's log", 2});
  }
  const auto replicas = field(info, "connected_slaves");
  if (!replicas.empty() && replicas != "0" && !p.confirmed) {
    findings.push_back(
        {"grants are not confirmed by any of the replicas (" + std::string{replicas} + ")",
         "a failover may forget a lock that somebody holds; with the option replicas=1 in the URI only what a "
         "replica has confirmed counts, at the cost of a round trip more",
         1});
  }
  if (clock_jumps > 0) {
    findings.push_back({"the server's clock has jumped " + std::to_string(clock_jumps) + " times since we connected",
                        "slew the clock instead of setting it: leases are counted on it", 2});
  }
  return findings;
}

namespace {

// The shortest duration of a cluster failover: tokens may run backwards when clocks differ by more (ADR 0006).
constexpr std::chrono::milliseconds clocks_apart_max{10};

struct examination {
  engine::reply<std::vector<engine::finding>> back;
  std::vector<engine::finding> found;
  engine::time_point sent;
  std::size_t awaited = 0;
  bool several = false;

  // How far one clock is certainly ahead of another: each compared with our own, since they are read one by one.
  std::chrono::microseconds behind = std::chrono::microseconds::max(), ahead = std::chrono::microseconds::min();

  // Relative to this machine's clock, which is usually right.
  std::chrono::microseconds ahead_of_us{};

  void look_at(const server_clock& c, const core::clock& ours) {
    const auto now = ours.now();
    if (!c.known()) return;
    const auto wall = std::chrono::duration_cast<std::chrono::microseconds>(ours.wall().time_since_epoch());
    ahead_of_us = std::max(ahead_of_us, c.earliest(now) - wall);
    const auto here = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
    behind = std::min(behind, c.latest(now) - here);
    ahead = std::max(ahead, c.earliest(now) - here);
  }

  void add(const connection& from, std::vector<engine::finding> findings) {
    const auto server = from.server().host + ':' + std::to_string(from.server().port);
    for (auto& f : findings) {
      if (several) f.what = server + ": " + f.what;
      found.push_back(std::move(f));
    }
  }
};

std::vector<engine::finding> examine_without_resp3() {
  return {
      {"it does not speak RESP3: it is a proxy, or behind one",
       "connect to the server itself if you can. Through it nothing is pushed: a waiter looks again every third of "
       "its waiter_ttl (1 s with the default ttl) instead of being woken; nobody can be asked to release a lock; a "
       "hold that is broken is noticed at its next renewal; locks are not listed",
       2},
      {"how many servers are behind it is not known",
       "let NTP set their clocks: a request is judged late by the clock of the server that has its name. ?replicas= "
       "does not work through it",
       1}};
}

// Reports only certain differences: a clock is known only to within a round trip.
void compare_clocks(examination& e, std::chrono::milliseconds tombstone_ttl) {
  using std::chrono::milliseconds;
  milliseconds apart{};
  if (e.ahead > e.behind) apart = std::chrono::duration_cast<milliseconds>(e.ahead - e.behind);
  const auto too_far = std::max(apart, std::chrono::duration_cast<milliseconds>(e.ahead_of_us));
  if (auto f = examine_tombstones(too_far, tombstone_ttl)) e.found.push_back(*std::move(f));
  if (apart <= clocks_apart_max) return;
  e.found.push_back({"the clocks of the servers are " + std::to_string(apart.count()) + " ms apart",
                     "let NTP set them: after a failover tokens grow only if the clocks differ by less than it took",
                     2});
}

}  // namespace

std::optional<engine::finding> examine_tombstones(std::chrono::milliseconds apart, std::chrono::milliseconds ttl) {
  using std::chrono::seconds;
  if (apart < ttl) return std::nullopt;
  const auto in_seconds = [](std::chrono::milliseconds ms) {
    return std::to_string(std::chrono::ceil<seconds>(ms).count()) + " s";
  };
  return engine::finding{
      "clocks are " + in_seconds(apart) + " apart, and a free lock remembers its last token for " + in_seconds(ttl),
      "set the clocks, or ?tombstone_ttl= to more than they differ: else tokens may run backwards", 2};
}

void examine_all(deployment& d, const promises& p, engine::reply<std::vector<engine::finding>> back) {
  const auto e = std::make_shared<examination>();
  e->back = std::move(back);
  const auto servers = d.masters();
  if (servers.empty()) return d.refuse(no_servers(), [e](const received& r) { e->back({r.sent, *r.wrong}); });
  e->several = servers.size() > 1;
  e->awaited = servers.size();
  for (connection* s : servers) {
    s->info([e, s, p](const received& r) {
      e->sent = r.sent;
      e->look_at(s->clock(), *p.clock);
      if (!s->speaks_resp3()) e->add(*s, examine_without_resp3());
      if (r.wrong != nullptr)
        e->add(*s, {{"it does not answer: " + r.wrong->words, "check that it runs and that this user may use it", 3}});
      else
        e->add(*s, examine(r.words.empty() ? std::string_view{} : r.words[0], s->clock().jumps(), p));
      if (--e->awaited > 0) return;
      if (!e->several && r.wrong != nullptr) return e->back({r.sent, *r.wrong});
      if (p.tokens) compare_clocks(*e, p.tombstone_ttl);
      e->back({e->sent, std::move(e->found)});
    });
  }
}

}  // namespace tyer::redis
