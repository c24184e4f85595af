#include "engines/etcd/client/link.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr milliseconds probe_pause_max = 500ms, refused_pause_max = 5s;
constexpr auto probe_patience = 2s;
constexpr auto next_probe_after = 100ms;  // while one does not answer
constexpr milliseconds patience_min = 100ms;
constexpr auto on_its_way_max = 15s;  // a name server may take so long
constexpr std::size_t said_max = 16;
constexpr auto look_again_every = 30s;  // at servers that have not said yet of which cluster they are
constexpr auto late_look = 50ms;        // the answer may be there, and nobody has had the time to bring it

}  // namespace

// A learner, which waits to become a member like the others; or a cluster that is being set up. It says so before it does
// anything, and since 3.6 with the code of what will never do.
bool serves_nobody_yet(const wire::status& s) {
  return s.is == wire::code::failed_precondition && (s.words.find("not supported for learner") != std::string::npos ||
                                                     s.words.find("not capable") != std::string::npos);
}

failure explain(const wire::status& s) {
  const auto words = "etcd: " + (s.words.empty() ? std::string{"no reason given"} : s.words);
  if (!s.ok() && (!s.sent || serves_nobody_yet(s))) return no(why::not_sent, errc::unavailable, words);
  switch (s.is) {
    case wire::code::permission_denied:
    case wire::code::unauthenticated: return no(why::refused, errc::refused, words);
    case wire::code::invalid_argument:
    case wire::code::failed_precondition:
    case wire::code::not_found:
    case wire::code::unimplemented:
    case wire::code::out_of_range: return no(why::refused, errc::refused, words);
    case wire::code::resource_exhausted:
      // Too busy to begin with it: that passes. Anything else, as a full database, does not by itself.
      if (words.find("too many requests") != words.npos) return no(why::not_sent, errc::unavailable, words);
      return no(why::over_limit, errc::over_limit, words);
    case wire::code::cancelled:  // by ourselves
      return no(why::unknown, errc::outcome_unknown, "etcd: no answer yet when its server was left for being silent");
    default: return no(why::unknown, errc::outcome_unknown, words);
  }
}

bool is_old_token(const wire::status& s) {
  return s.is == wire::code::unauthenticated ||
         (s.is == wire::code::invalid_argument && (s.words.find("invalid auth token") != std::string::npos ||
                                                   s.words.find("auth store is old") != std::string::npos ||
                                                   s.words.find("user name is empty") != std::string::npos));
}

bool says_no_users(const failure& f) { return f.words.find("authentication is not enabled") != f.words.npos; }

link::link(const config& c, const engine::environment& e, wire::loop& l, std::shared_ptr<engine::inbox> box, step s,
           std::string probe_key)
    : config_(c),
      environment_(e),
      loop_(l),
      box_(std::move(box)),
      step_(std::move(s)),
      probe_key_(std::move(probe_key)),
      sweeper_(std::make_shared<sweeper>(l)) {
  channels_.resize(c.servers.size());
  made_.resize(c.servers.size());
  probing_.resize(c.servers.size());
  clusters_.resize(c.servers.size());
  met_.resize(c.servers.size());
  for (std::size_t i = 0; i < c.servers.size(); ++i) connect_anew(i);
}

void link::open(listener& l) {
  listener_ = &l;
  probe_at_ = environment_.clock->now();
}

void link::close() {
  closed_ = true;
  probe_at_ = look_at_ = time_point::max();
  expected_.clear();
  for (const auto& [number, call] : in_flight_) call->cancel();
}

void link::disconnect() {
  up_ = false;
  aim();
  channels_.clear();
}

void link::tick(time_point now) {
  if (!closed_ && probe_at_ <= now) probe();
  if (look_at_ <= now) look_at_the_others();
}

time_point link::next() const {
  auto next = std::min(probe_at_, look_at_);
  for (const auto& [number, answer] : expected_) next = std::min(next, answer.by);
  return next;
}

// --- which server ---

// Is it there, and with a majority; and who is it? Both at once: holds wait for that, and servers may be slow.
void link::probe() {
  const auto now = environment_.clock->now();
  const auto p = std::make_shared<probing>(at_, revision_);
  probing_[at_] = true;
  go_on_probing();
  probe_at_ = probing_[at_] ? time_point::max() : now + next_probe_after;
  const auto by = now + std::min<lease_clock::duration>(probe_patience, environment_.request_timeout);
  const manner there{.even_down = true, .to = p->server, .logged_in = true};  // some say it only to their users
  call<pb::StatusRequest, pb::StatusResponse>(
      method::status, {}, by,
      [this, p](const failure* wrong, pb::StatusResponse& status) {
        p->said = wrong == nullptr ? introduction{status.header().member_id(), status.version()} : introduction{};
        if (p->read) probed(*p, nullptr);
      },
      there);
  pb::RangeRequest r;
  r.set_key(probe_key_);
  call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), by,
      [this, p](const failure* wrong, pb::RangeResponse& answer) {
        if (wrong != nullptr) return probed(*p, wrong);
        p->read = answer.header();
        if (p->said) probed(*p, nullptr);
      },
      there);
}

// To the next that is not being tried already, if there is one.
void link::go_on_probing() {
  for (std::size_t n = 0; n < channels_.size(); ++n) {
    at_ = (at_ + 1) % channels_.size();
    if (!probing_[at_]) break;
  }
}

void link::probed(const probing& p, const failure* wrong) {
  const auto server = p.server;
  probing_[server] = false;
  if (closed_) return;
  clusters_[server] = wrong == nullptr ? p.read->cluster_id() : 0;
  if (wrong != nullptr && !(up_ && server == at_) && !is_on_its_way(server)) connect_anew(server);
  const auto two = of_two_clusters();
  if (up_ && two) return leave(*two);
  if (up_) return;  // another was quicker
  if (wrong == nullptr && !two) {
    at_ = server;
    return introduce(p);
  }
  take_note(wrong != nullptr ? *wrong : *two);
  if (probing_[at_]) at_ = server;
  try_later(wrong != nullptr && wrong->kind == why::refused);
}

// To check a password costs a server a tenth of a second: where it is wrong, an outage costs a quarter more than it lasts.
void link::try_later(bool refused) {
  const auto now = environment_.clock->now();
  if (refused) {
    refused_pause_ = std::min(refused_pause_ * 5 / 4 + 20ms, refused_pause_max);
    probe_at_ = now + refused_pause_;
  } else {
    probe_pause_ = std::min(probe_pause_ * 2 + 20ms, probe_pause_max);
    probe_at_ = std::min(probe_at_, now + probe_pause_);
  }
}

void link::connect_anew(std::size_t server) {
  channels_[server] = wire::connect(loop_, config_.servers[server], config_, environment_.request_timeout);
  made_[server] = environment_.clock->now();
}

// Whoever has not found out the address yet, or is shaking hands, would begin again with that.
bool link::is_on_its_way(std::size_t server) const {
  return wire::is_connecting(*channels_[server]) && environment_.clock->now() < made_[server] + on_its_way_max;
}

// Said once, but a new reason is news.
void link::take_note(const failure& wrong) {
  if (down_because_.kind != why::refused || wrong.kind == why::refused) down_because_ = wrong;
  // A server that does not know of our login yet will hear of it.
  if (!config_.user.empty() && is_old_token({wire::code::invalid_argument, down_because_.words})) {
    down_because_.kind = why::not_sent;
  }
  if (said_.size() >= said_max || !said_.insert(wrong.words).second) return;
  listener_->on_down(wrong);
}

failure link::why_down() const {
  const std::string beginning = "no etcd server can be reached just now";
  if (closed_ || !down_because_.code) return no(why::not_sent, errc::unavailable, beginning);
  if (down_because_.kind == why::refused) return down_because_;
  return no(why::not_sent, errc::unavailable, beginning + ": " + down_because_.words);
}

// --- one cluster ---

std::optional<failure> link::of_two_clusters() const {
  std::optional<std::size_t> first;
  const auto name = [this](std::size_t i) {
    return config_.servers[i].host + ':' + std::to_string(config_.servers[i].port);
  };
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i] == 0) continue;
    if (!first) first = i;
    if (clusters_[i] != clusters_[*first]) {
      return no(why::refused, errc::refused,
                "etcd: the servers of the URI are of different clusters: " + name(*first) + " and " + name(i) +
                    "; each would give the same lock to somebody else");
    }
  }
  return std::nullopt;
}

// Those of which it is not known. One that does not answer may be one that is away, and is back some time.
void link::look_at_the_others() {
  look_at_ = time_point::max();
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (i == at_ || clusters_[i] != 0) continue;
    look_at_ = environment_.clock->now() + look_again_every;
    call<pb::StatusRequest, pb::StatusResponse>(
        method::status, {}, environment_.clock->now() + environment_.request_timeout,
        [this, i, during = stay_](const failure* wrong, pb::StatusResponse& status) {
          if (wrong == nullptr) return compare(i, status.header(), during);
          if (wrong->kind == why::refused) look_by_login(i, during);
        },
        {.even_down = true, .to = i});
  }
}

// Servers since 3.5.28 and 3.6 tell their status only to some users, and one of another cluster does not know our login.
// Once for each server: a URI is wrong from the beginning, and checking a password costs a server a tenth of a second.
void link::look_by_login(std::size_t server, std::uint64_t during) {
  if (config_.user.empty() || closed_ || met_[server]) return;
  call<pb::AuthenticateRequest, pb::AuthenticateResponse>(
      method::authenticate, name_and_password(), environment_.clock->now() + environment_.request_timeout,
      [this, server, during](const failure* wrong, pb::AuthenticateResponse& a) {
        if (!is_stay(during)) return;
        met_[server] = wrong == nullptr || wrong->kind == why::refused;
        if (wrong == nullptr) compare(server, a.header(), during);
      },
      {.even_down = true, .to = server});
}

void link::compare(std::size_t server, const pb::ResponseHeader& said, std::uint64_t during) {
  if (!is_stay(during)) return;
  clusters_[server] = said.cluster_id();
  if (const auto two = of_two_clusters()) leave(*two);
}

// Without its version, which some tell only to some users, the server is up all the same. The read has logged in.
void link::introduce(const probing& p) {
  up_ = true;
  down_because_ = {};
  said_.clear();
  aim();
  ++stay_;
  introduction_ = *p.said;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (i != at_) clusters_[i] = 0;
  }
  look_at_the_others();
  probe_at_ = time_point::max();
  probe_pause_ = refused_pause_ = 0ms;
  // A read through the quorum: whatever was known before it was asked is in it, unless the data was set back.
  saw(*p.read);
  if (p.read->revision() < p.known) {
    revision_ = p.read->revision();
    listener_->on_set_back(revision_);
  }
  listener_->on_up({std::to_string(p.read->cluster_id()) + '/' + std::to_string(p.read->member_id()), p.said->version});
}

void link::trouble(const wire::status& s, std::uint64_t during) {
  const bool unreachable =
      s.is == wire::code::unavailable || s.is == wire::code::deadline_exceeded || s.is == wire::code::cancelled;
  if (!is_stay(during) || !(unreachable || serves_nobody_yet(s))) return;
  if (s.is == wire::code::deadline_exceeded) connect_anew(at_);  // perhaps it is only the connection that is dead
  leave(explain(s));
}

void link::leave(const failure& why) {
  up_ = false;
  look_at_ = time_point::max();
  if (!of_two_clusters()) clusters_.assign(clusters_.size(), 0);  // whoever is gone may come back as another
  down_because_ = why;
  said_ = {why.words};
  expected_.clear();
  go_on_probing();
  log_in_anew();
  probe_at_ = environment_.clock->now();
  probe_pause_ = 20ms;
  listener_->on_down(why);
}

// --- a server that is silent ---

// With another server to go to, soon enough to find it. With one only, leaving gains a new connection and gives up whatever is
// under way: a disk that stands still for a moment is no reason for that.
milliseconds link::patience(milliseconds ttl) {
  const auto part = config_.servers.size() > 1 ? ttl / 6 : ttl / 3;
  const auto twice = 2 * std::chrono::ceil<milliseconds>(pace_.slowest(environment_.clock->now()));
  return std::min(environment_.request_timeout, std::max({patience_min, part, std::min(twice, ttl / 3)}));
}

void link::took(time_point sent) {
  const auto now = environment_.clock->now();
  pace_.took(now, now - sent);
}

std::uint64_t link::expect(milliseconds patience) {
  if (closed_) return 0;
  expected_[++last_expected_] = {environment_.clock->now() + patience};
  return last_expected_;
}

void link::hurry(std::uint64_t expected, milliseconds patience) {
  const auto at = expected_.find(expected);
  if (at != expected_.end()) at->second.by = std::min(at->second.by, environment_.clock->now() + patience);
}

void link::start_anew() {
  if (closed_) return;
  probing_.assign(probing_.size(), false);
  waiting_for_token_.clear();
  for (const auto& [number, call] : in_flight_) call->cancel();
  probe_at_ = environment_.clock->now();
  if (up_) leave(no(why::unknown, errc::unavailable, "there was not enough memory to hear what the server said"));
}

void link::leave_if_silent(time_point now) {
  bool silent = false;
  for (auto& [number, answer] : expected_) {
    if (answer.by > now) continue;
    if (now - answer.by <= late_look || answer.looked_late) {
      silent = true;
      continue;
    }
    answer = {now + patience_min, true};
  }
  if (!silent || !up_ || closed_) return;
  connect_anew(at_);
  for (const auto& [number, call] : in_flight_) call->cancel();
  leave(
      no(why::unknown, errc::unavailable,
         "etcd: " + config_.servers[at_].host + ':' + std::to_string(config_.servers[at_].port) + " does not answer"));
}

// --- login ---

pb::AuthenticateRequest link::name_and_password() const {
  pb::AuthenticateRequest r;
  r.set_name(config_.user);
  r.set_password(config_.password);
  return r;
}

void link::with_token(std::size_t server, std::function<void(const failure*)> go_on) {
  auto& waiting = waiting_for_token_[server];
  waiting.push_back(std::move(go_on));
  if (waiting.size() > 1) return;
  try {
    call<pb::AuthenticateRequest, pb::AuthenticateResponse>(
        method::authenticate, name_and_password(), environment_.clock->now() + environment_.request_timeout,
        [this, server](const failure* wrong, pb::AuthenticateResponse& a) { logged_in(server, wrong, a); },
        {.even_down = true, .to = server});
  } catch (...) {
    waiting_for_token_.erase(server);  // nobody asks for one: the next tries again
    throw;
  }
}

void link::logged_in(std::size_t server, const failure* wrong, pb::AuthenticateResponse& a) {
  failure why_not;
  if (wrong != nullptr && says_no_users(*wrong)) {
    wrong = nullptr;
    no_login_ = true;
    aim();
  } else if (wrong != nullptr) {
    why_not = *wrong;
    // Nothing of the request that waited for the login was sent.
    if (why_not.kind == why::unknown) why_not.kind = why::not_sent;
  } else {
    set_token(a.token());  // all servers know it
  }
  for (auto& go_on : std::exchange(waiting_for_token_[server], {})) go_on(wrong != nullptr ? &why_not : nullptr);
}

void link::log_in_anew() {
  no_login_ = false;
  set_token({});
}

void link::when_logged_in(std::function<void(const failure*)> go_on) {
  needs_login() ? with_token(at_, std::move(go_on)) : go_on(nullptr);
}

void link::set_token(std::string token) {
  token_ = std::move(token);
  aim();
}

void link::aim() { sweeper_->aim(up_ && !closed_ && !needs_login() ? channels_[at_] : nullptr, token_); }

}  // namespace tyer::etcd
