#include "base/mistakes.hpp"
#include "base/trouble.hpp"
#include "doctor/examine.hpp"
#include "doctor/probe.hpp"
#include "text/plain.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <utility>
#include <vector>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// With the start of the program, at most 2 s until the finding is printed.
constexpr milliseconds first_wait = 700ms, probe_max = 900ms;
static_assert(first_wait + probe_max + probe_max / 4 < 2s, "as look_at() counts it");
constexpr std::size_t servers_max = 16;

constexpr const char* advice_on_hosts = "correct the host name in the URL, or check DNS and /etc/hosts";

// How people call what a server speaks, and what a URL for it begins with.
struct known_engine {
  speech plain;
  const char *name, *speaks, *url, *listens;
};
constexpr std::array<known_engine, 5> engines{
    {{speech::redis, "Redis", "Redis", "redis://", "bind"},
     {speech::http, "etcd", "HTTP, as etcd does", "etcd://", "listen-client-urls"},
     {speech::postgres, "PostgreSQL", "PostgreSQL", "postgres://", "listen_addresses"},
     {speech::mysql, "MySQL or MariaDB", "MySQL or MariaDB", "mysql://", "bind_address"},
     {speech::zookeeper, "ZooKeeper", "ZooKeeper", "zk://", "clientPortAddress"}}};

const known_engine* engine_that_speaks(speech what) {
  const auto* const at = std::ranges::find(engines, what, &known_engine::plain);
  return at == engines.end() ? nullptr : at;
}

struct scheme {
  explicit scheme(std::string_view address) : name(address.substr(0, address.find("://"))) {}

  const known_engine& engine() const {
    if (name.starts_with("etcd")) return engines[1];
    if (name.starts_with("postgres")) return engines[2];
    if (name == "mysql" || name == "mariadb") return engines[3];
    return name.starts_with("zk") ? engines[4] : engines[0];
  }
  bool is_tls() const { return name.starts_with("rediss") || name == "redlocks" || name == "etcds" || name == "zks"; }
  // Databases begin in plain text, and change to TLS.
  bool has_two() const { return engine().plain != speech::postgres && engine().plain != speech::mysql; }
  // The same engine with TLS or without.
  std::string other() const {
    const auto plus = std::min(name.find('+'), name.size());
    const auto base = is_tls() ? name.substr(0, plus - 1) : name.substr(0, plus) + 's';
    return base + name.substr(plus) + "://";
  }
  speech expected() const { return is_tls() ? speech::tls : engine().plain; }

  std::string name;
};

struct verdict {
  std::string what, advice;
};

verdict judge_speech(const scheme& s, const std::string& where, const sighting& seen) {
  const std::string wanted = s.engine().name, begins = s.name + "://";
  if (seen.what == s.engine().plain)
    return {where + " speaks plain text, and not TLS",
            "begin the URL with " + s.other() + " instead of " + begins + ", or switch TLS on at the server"};
  if (seen.what == speech::tls && s.has_two())
    return {where + " speaks TLS", "begin the URL with " + s.other() + " instead of " + begins};
  if (seen.what == speech::tls) return {where + " speaks TLS, and not " + wanted, "check the port in the URL"};
  if (const auto* other = engine_that_speaks(seen.what))
    return {where + " speaks " + other->speaks + ", and not " + wanted,
            "use " + std::string{other->url} + " in the URL, or correct the port"};
  return {where + " speaks neither " + wanted + " nor TLS; it said: " + plain(seen.words), "check the port in the URL"};
}

verdict judge(const scheme& s, const std::string& where, const sighting& seen) {
  switch (seen.what) {
    case speech::unknown_host: return {"the host of " + where + " is not known: " + seen.words, advice_on_hosts};
    case speech::nobody:
      return {"nobody listens at " + where + " (" + seen.words + ")",
              "start the server, or correct host and port in the URL; check on which addresses the server listens (" +
                  std::string{s.engine().listens} + ')'};
    case speech::unreachable:
      return {where + " cannot be reached (" + seen.words + ")",
              "check that the host is up, and that no firewall is in between"};
    case speech::silent:
      return {
          where + " accepts connections but does not answer",
          "the server hangs, or is no " + std::string{s.engine().name} + ": check its log and its load, and the port"};
    case speech::closing:
      return {where + " accepts connections, and closes them without a word",
              "it is a proxy that does not pass on what is in the URL (a user, a database), or no " +
                  std::string{s.engine().name} + ": check its log, and the port"};
    default: return judge_speech(s, where, seen);
  }
}

enum class ports { wrong, right, not_known };

// Probes all servers at once, and adds a finding for each fault.
ports look_at_ports(const std::string& address, report& r) {
  const scheme s{address};
  auto servers = servers_in(address);
  servers.resize(std::min(servers.size(), servers_max));
  std::vector<std::future<sighting>> seen;
  for (const auto& one : servers)
    seen.push_back(std::async(std::launch::async, [&one, &s] { return look_at(one, s.expected(), probe_max); }));
  auto all = servers.empty() ? ports::not_known : ports::right;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto what = seen[i].get();
    if (what.what == s.expected()) continue;
    auto v = judge(s, servers[i].text(), what);
    r.found(tyer::severity::error, std::move(v.what), std::move(v.advice));
    all = ports::wrong;
  }
  return all;
}

// Of names that a server itself gives, as a sentinel does, the ports above know nothing.
bool is_unknown_host(const std::string& words) { return words.find("cannot be resolved") != words.npos; }

std::string advice_on_silence(const std::string& words, ports seen) {
  if (is_unknown_host(words)) return advice_on_hosts;
  if (const auto* known = mistake_in(words)) return std::string{known->advice};
  if (seen == ports::right) return "the server speaks the right protocol: check its answer, its log and its load";
  return "check host and port in the URL, and the log and the load of the server";
}

// What an engine says of a login ends, for some errors, in advice of its own: that is not given twice.
verdict judge_login(const std::string& words) {
  for (const char* advice :
       {"put the password ", "check the user and the password", "check ?sentinel_user=", "take the password out of",
        "take ?sentinel_password=", "correct the database", "take the database "}) {
    const auto at = words.find(std::string{"; "} + advice);
    if (at != words.npos) return {words.substr(0, at), words.substr(at + 2)};
  }
  return {words, "check user and password in the URL, …://USER:PASSWORD@HOST, where @ in a password is written %40"};
}

// A server whose URL is for sentinels: asked for a password, both say the same.
std::optional<verdict> judge_sentinels(const std::string& address) {
  const scheme s{address};
  if (s.is_tls() || !s.name.ends_with("+sentinel")) return std::nullopt;
  for (const auto& one : servers_in(address)) {
    if (!knows_no("SENTINEL MASTERS", one, probe_max / 3)) continue;
    return verdict{one.text() + " is a Redis server that wants a password, and is no sentinel",
                   "name the sentinels in the URL, mostly port 26379; or begin it with redis://USER:PASSWORD@"};
  }
  return std::nullopt;
}

verdict judge_refusal(session& s, const std::string& address, const std::string& words) {
  if (words.find("NOPERM") != words.npos || words.find("permission denied") != words.npos)
    return {words, least_privilege};
  auto v = judge_sentinels(address).value_or(judge_login(words));
  const auto source = find_settings(s.engine()).source;
  v.advice += "; the URL comes from " + source;
  if (source == "--url" && words.find("password") != words.npos)
    v.advice += ", which the process list shows: a password is safer in TYER_URL or in ~/.config/tyer/config";
  return v;
}

}  // namespace

exit_code look_whether_it_answers(session& s, report& r) {
  r.engine = s.address();
  const auto patience = s.connect_timeout().value_or(connect_timeout_usual);
  auto why = s.try_client(std::min(first_wait, patience));
  auto seen = ports::not_known;
  if (why && why != tyer::errc::refused) {
    seen = look_at_ports(r.engine, r);
    if (seen == ports::wrong) return exit_code::unreachable;
    const bool hopeless =
        why.words.find("certificate") != why.words.npos || is_unknown_host(why.words) || is_for_good(why.words);
    if (!hopeless)
      why = s.try_client(std::max(patience - first_wait, 1ms));  // the right server answers there, only slowly
  }
  if (!why) return exit_code::ok;
  const auto told = trouble_of(why);
  auto v = why == tyer::errc::refused ? judge_refusal(s, r.engine, told.what())
                                      : verdict{told.what(), advice_on_silence(told.what(), seen)};
  r.found(tyer::severity::error, std::move(v.what), std::move(v.advice));
  return told.code();
}

}  // namespace cli::doctor
