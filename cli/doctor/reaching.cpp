#include "base/mistakes.hpp"
#include "base/trouble.hpp"
#include "doctor/examine.hpp"
#include "doctor/probe.hpp"
#include "text/duration.hpp"
#include "text/plain.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <future>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// With the start of the program, at most 2 s until a finding that is certain is printed.
constexpr milliseconds first_wait = 700ms, probe_max = 900ms;
static_assert(first_wait + probe_max + probe_max / 4 < 2s, "as seen_by() counts it");
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

verdict judge(const scheme& s, const std::string& where, const sighting& seen, milliseconds waited) {
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
      return {where + " accepts connections but does not answer (within " + shown(waited) + ')',
              "the server hangs, or is no " + std::string{s.engine().name} +
                  ": check its log and its load, and the port; if it is only slow, --connect-timeout waits longer"};
    case speech::closing:
      return {where + " accepts connections, and closes them without a word",
              "it is a proxy that does not pass on what is in the URL (a user, a database), or no " +
                  std::string{s.engine().name} + ": check its log, and the port"};
    default: return judge_speech(s, where, seen);
  }
}

// The servers of an address, and what has been seen of each.
class ports {
 public:
  explicit ports(const std::string& address) : scheme_(address), servers_(servers_in(address)) {
    servers_.resize(std::min(servers_.size(), servers_max));
    start({probe_max, probe_max / 3}, [](const sighting&) { return true; });
    finish(steady_clock::now() + probe_max);
  }

  // Asks those again that may merely be slow, in the language of the URL alone. finish() has the answers.
  void look_again(milliseconds at_most) {
    start({at_most, at_most}, [](const sighting& seen) { return seen.may_be_slow; });
  }

  void finish(steady_clock::time_point until) {
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      if (looks_[i].valid()) seen_[i] = seen_by(looks_[i], until);
    }
  }

  bool known() const { return !servers_.empty(); }
  // Whether those that answer as they should are enough for the engine; and those that may yet do so with them.
  bool suffice() const {
    return is_enough(std::ranges::count_if(seen_, [&](auto& x) { return right(x); }));
  }
  bool hopeful() const {
    return is_enough(std::ranges::count_if(seen_, [&](auto& x) { return right(x) || x.may_be_slow; }));
  }

  // A finding for each that does not answer as it should, which was given this long.
  void tell(report& r, milliseconds waited) const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (right(seen_[i])) continue;
      auto v = judge(scheme_, servers_[i].text(), seen_[i], waited);
      r.found(tyer::severity::error, std::move(v.what), std::move(v.advice));
    }
  }

 private:
  bool right(const sighting& seen) const { return seen.what == scheme_.expected(); }

  // Redlock needs a majority; with all others one server leads to the rest.
  bool is_enough(std::ptrdiff_t n) const {
    return !known() || (scheme_.name.starts_with("redlock") ? 2 * n > std::ssize(seen_) : n > 0);
  }

  void start(patience p, bool (*wanted)(const sighting&)) {
    looks_.resize(servers_.size());
    seen_.resize(servers_.size());
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (wanted(seen_[i])) looks_[i] = start_looking(servers_[i], scheme_.expected(), p);
    }
  }

  scheme scheme_;
  std::vector<server> servers_;
  std::vector<std::future<sighting>> looks_;
  std::vector<sighting> seen_;
};

// Of names that a server itself gives, as a sentinel does, the ports above know nothing.
bool is_unknown_host(std::string_view words) { return words.find("cannot be resolved") != words.npos; }

// Of an engine that was not reached although its ports are as they should be, if they are known.
verdict judge_silence(const std::string& words, bool ports_known) {
  if (is_unknown_host(words)) return {words, advice_on_hosts};
  const auto* known = mistake_in(words);
  if (known != nullptr && !known->advice.empty()) return {words, std::string{known->advice}};
  if (const auto at = words.rfind("; "); known != nullptr && at != words.npos)
    return {words.substr(0, at), words.substr(at + 2)};
  constexpr std::string_view lost = " before the server had said a word";  // what follows advises to try TLS
  if (const auto at = words.find(lost); ports_known && at != words.npos)
    return {
        words.substr(0, at + lost.size()) + ", although it speaks Redis",
        "perhaps it is a proxy that does not pass on what is in the URL: take the user or the database out of it, or "
        "check the proxy's log"};
  if (ports_known) return {words, "the server speaks the right protocol: check its answer, its log and its load"};
  return {words, "check host and port in the URL, and the log and the load of the server"};
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
  if (lacks_a_right(words)) return {words, least_privilege};
  auto v = judge_sentinels(address).value_or(judge_login(words));
  const auto source = find_settings(s.engine()).source;
  v.advice += "; the URL comes from " + source;
  if (source == "--url" && words.find("password") != words.npos)
    v.advice += ", which the process list shows: a password is safer in TYER_URL or in ~/.config/tyer/config";
  return v;
}

// Whether time does not mend it. If it is said of one of several servers, another may be the right one, and be slow. It may be
// said of none of them: of a file of the URL, or of a host that they have named.
bool is_hopeless(const std::vector<server>& all, std::string_view words) {
  const bool unknown = is_unknown_host(words);
  if (!unknown && words.find("certificate") == words.npos && !is_for_good(words)) return false;
  const auto named = std::ranges::count_if(
      all, [&](const server& s) { return words.find(unknown ? s.host : s.text()) != words.npos; });
  return named == 0 || named == std::ssize(all);
}

// What is wrong in the end; nothing if it answers after all. Only what is certain is told at once: who may merely be slow has
// until `end`.
tyer::failure look_at_ports(session& s, report& r, tyer::failure why, steady_clock::time_point end,
                            const session::judge& hopeless) {
  const auto begin = steady_clock::now() - first_wait;
  ports there{r.engine};
  const bool waits = there.hopeful() && !hopeless(why.words);
  const auto left = std::max(std::chrono::ceil<milliseconds>(end - steady_clock::now()), 1ms);
  if (waits) there.look_again(left);
  if (auto now = s.try_client(waits ? left : 1ms, hopeless); !now || waits) why = std::move(now);
  if (!why || why == tyer::errc::refused) return why;
  there.finish(steady_clock::now());
  there.tell(r, std::chrono::round<milliseconds>(steady_clock::now() - begin));
  if (!there.suffice()) return why;
  auto v = judge_silence(trouble_of(why).what(), there.known());
  r.found(tyer::severity::error, std::move(v.what), std::move(v.advice));
  return why;
}

}  // namespace

exit_code look_whether_it_answers(session& s, report& r) {
  r.engine = s.address();
  const auto at_most = s.connect_timeout().value_or(connect_timeout_usual);
  const auto end = steady_clock::now() + at_most;
  const auto hopeless = [all = servers_in(r.engine)](std::string_view words) { return is_hopeless(all, words); };
  auto why = s.try_client(std::min(first_wait, at_most), hopeless);
  if (why && why != tyer::errc::refused) why = look_at_ports(s, r, std::move(why), end, hopeless);
  if (why == tyer::errc::refused) {
    auto v = judge_refusal(s, r.engine, trouble_of(why).what());
    r.found(tyer::severity::error, std::move(v.what), std::move(v.advice));
  }
  return why ? code_of(why.code) : exit_code::ok;
}

}  // namespace cli::doctor
