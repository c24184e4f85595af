// The engine as a whole: what it can, its loop and its sessions.
#include "engine/table.hpp"
#include "engines/zookeeper/core.hpp"
#include "engines/zookeeper/diagnosis.hpp"
#include "engines/zookeeper/wire/question.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper {

using namespace std::chrono_literals;

failure failed(const response& r, bool changes) {
  if (r.is == response::how::unknown && changes)
    return no(why::unknown, errc::outcome_unknown, "the connection was lost before the server answered");
  if (r.is != response::how::answered) return not_connected();
  if (r.error == wire::bad_version) return others_were_quicker();
  const bool passing = r.error == wire::session_expired || r.error == wire::session_moved || r.error == wire::throttled;
  if (passing) return no(why::not_sent, errc::unavailable, wire::words(r.error));
  return no(why::refused, errc::refused, "ZooKeeper says: " + wire::words(r.error));
}

failure not_connected() { return no(why::not_sent, errc::unavailable, "there is no connection to a ZooKeeper server"); }

failure under_way(why kind) { return no(kind, errc::unavailable, "another request of this id is under way"); }

failure others_were_quicker() { return no(why::not_sent, errc::unavailable, "others were quicker, again and again"); }

failure no_more_numbers() {
  return no(why::over_limit, errc::over_limit,
            "two billion nodes were made in this name: it begins anew when nobody has used it for a minute");
}

zookeeper_engine::zookeeper_engine(config c, const seam::environment& e)
    : engine_base(e, {.scheme = "zk://",
                      .request_timeout = e.request_timeout,
                      .waits_for = kit::draining::what_gives_back,
                      .drain_max = e.request_timeout / 2}),
      config_(std::move(c)),
      layout_(config_.layout, config_.base, e.prefix),
      next_host_(static_cast<std::size_t>(e.ids->nonce() >> 7U)) {}

zookeeper_engine::~zookeeper_engine() {
  fall_silent();
  for (auto& m : members_) m->link.end();
}

seam::capabilities zookeeper_engine::can() const noexcept {
  return {.queue = true,
          .shared = layout_.has_shared(),
          .permits = layout_.is_own(),
          .push = true,
          .token = true,
          .convert = layout_.is_own(),
          .above_seen = false,
          .handoffs = layout_.is_own(),
          .keep_batch = zookeeper::keep_batch};
}

// --- the loop

void zookeeper_engine::do_open() {
  if (config_.servers.tls && !config_.servers.files.verify && around().log)
    around().log(log_level::warning, "ZooKeeper: ?verify=none, anybody can pose as the server");
  add_member(session_for(10s)).primary = true;
}

std::vector<seam::delivery> zookeeper_engine::receive(time_point until) {
  for (auto& m : members_) m->link.flush();
  return loop_.wait(real(until));
}

time_point zookeeper_engine::next_due() const {
  auto first = let_go_by_ != time_point{} ? let_go_by_ : time_point::max();
  for (const auto& m : members_) {
    first = std::min(first, m->link.due());
    if (m->number == 0) continue;
    first = std::min(first, m->patience_ends());
    if (m->over) continue;
    first = std::min(first, m->life.end());
    if (renews(*m, now())) first = std::min(first, m->renewal_due());
  }
  if (!dues_.empty()) first = std::min(first, dues_.begin()->first);
  if (!settling_.empty()) first = std::min(first, settling_.begin()->first);
  return first;
}

void zookeeper_engine::on_time(time_point now) {
  for (auto& m : members_) {
    m->link.on_time(now);
    if (m->number == 0) continue;
    // A server that answers pings alone would be pinged for ever.
    if (m->over && now >= m->patience_ends()) m->link.leave("the session could not be closed");
    if (m->over) continue;
    if (!m->life.live(now)) {
      condemn(*m);
      continue;
    }
    // A server that is cut off from the others answers pings and reads for a long time, but nothing that they have to know of.
    if (now >= m->patience_ends()) {
      m->left_in_vain = std::min(m->left_in_vain + 1, left_in_vain_max);
      m->link.leave("a request was not answered");
    }
    if (renews(*m, now) && now >= m->renewal_due()) renew(*m, nullptr);
  }
  while (!settling_.empty() && settling_.begin()->first <= now) {
    const auto who = settling_.begin()->second;
    settling_.erase(settling_.begin());
    watch_own(who);
  }
  drop_overdue(now);
  reap(now);
}

// Nothing is under way then: what was to be told when it is answered, and is not, was never asked for.
void zookeeper_engine::start_anew() {
  for (auto& m : members_) {
    m->link.leave("out of memory");
    m->renewing = m->setting_up = false;
  }
  for (auto& [who, e] : mine_) {
    if (e.own_watch == watched::asked) e.own_watch = watched::no;
    if (!writing_.contains(who)) continue;
    e.leaving = e.over;
    doubt(who, *e.in);
  }
  writing_.clear();
  for (auto& [name, n] : names_) n.looking = false;
  std::erase_if(names_, [](const auto& n) { return n.second.ids.empty(); });
}

bool zookeeper_engine::is_used(const member& m, time_point now) const {
  return m.primary || !m.entries.empty() || now - m.used <= unused_for;
}

bool zookeeper_engine::renews(const member& m, time_point now) const {
  return m.ready && !m.renewing && !closed() && m.link.session().up() && is_used(m, now);
}

void zookeeper_engine::reap(time_point now) {
  for (auto& m : members_) {
    if ((m->ready || m->number == 0) && !m->over && !is_used(*m, now)) condemn(*m);
  }
  members_.remove_if([&](const auto& m) {
    const bool finished = m->over && (m->closed || !m->link.session().up() || m->link.session().gone());
    return finished && m->link.session().in_flight() == 0;
  });
}

// --- the end: what has nothing is given back, what has something ends by itself

bool zookeeper_engine::has_let_go(time_point now) {
  if (let_go_by_ == time_point{}) {
    let_go_by_ = now + 500ms;
    for (auto& m : members_) {
      if (!m->entries.empty() || !m->link.session().up()) continue;
      m->over = true;
      m->link.session().close(now, [m = m.get()](const response&) { m->closed = true; });
      m->link.flush();
    }
  }
  const auto leaves = [](const auto& m) { return m->over && !m->closed && m->link.session().up(); };
  return now >= let_go_by_ || std::ranges::none_of(members_, leaves);
}

// --- sessions

zookeeper_engine::member::member(zookeeper_engine& e, milliseconds l, std::size_t first_host)
    : home(&e), length(l), link(e.loop_, *e.around().clock, e.config_.servers, first_host, l, *this) {}

zookeeper_engine::member& zookeeper_engine::add_member(milliseconds length) {
  members_.push_back(std::make_unique<member>(*this, length, next_host_));
  members_.back()->since = members_.back()->used = now();
  return *members_.back();
}

// One that lives long enough, and has room; or a new one.
void zookeeper_engine::find_member(milliseconds ttl, with_member then) {
  const auto length = session_for(ttl);
  const auto t = now();
  member* best = nullptr;
  std::set<milliseconds> lengths;
  for (auto& m : members_) {
    if (m->over || (m->number != 0 && !m->life.live(t)) || m->path_bytes >= path_bytes_max) continue;
    lengths.insert(m->length);
    const bool fits = m->length >= length && m->length <= length * longer_max;
    if (fits && (best == nullptr || m->length < best->length)) best = m.get();
  }
  if (best != nullptr && best->length != length && lengths.size() < lengths_max) best = nullptr;
  if (best == nullptr && members_.size() >= config_.sessions_max) {
    const auto f = no(why::over_limit, errc::over_limit, "more sessions than ?sessions_max= allows would be needed");
    return then(&f, nullptr);
  }
  if (best == nullptr) best = &add_member(length);
  best->used = t;
  if (best->usable(t)) return then(nullptr, best);
  if (best->ready) {
    const auto f = not_connected();
    return then(&f, nullptr);
  }
  best->waiting.push_back([then = std::move(then), best](const failure* f) { then(f, f == nullptr ? best : nullptr); });
  if (best->link.session().up() && !best->setting_up) set_up(*best, 0);  // it was refused before
}

zookeeper_engine::member* zookeeper_engine::any_member() {
  for (auto& m : members_) {
    if (!m->over && m->usable(now())) return m.get();
  }
  return nullptr;
}

void zookeeper_engine::member::on_up() {
  const auto t = home->now();
  if (number == 0) {
    number = link.session().number();
    life.made(link.session().greeted(), link.session().timeout(), milliseconds{home->config_.tick_ms});
    home->set_up(*this, 0);
    return;
  }
  life.moved(link.session().timeout());
  if (!over && !life.live(t)) return home->condemn(*this);
  if (over) return;
  if (!ready) return home->set_up(*this, 0);
  if (home->is_used(*this, t)) home->renew(*this, nullptr);  // before all else: the one under way was lost
  home->tell_up();
  std::set<std::string> names;
  for (const auto& who : entries) {
    const auto at = home->mine_.find(who);
    if (at != home->mine_.end() && (!at->second.holding || at->second.upgrading)) names.insert(at->second.name);
  }
  for (const auto& name : names) home->refresh(name);
  const auto open_questions = doubts;
  for (const auto& who : open_questions) {
    if (!home->mine_.at(who).leaving) home->settle_doubt(who, [](const failure*) {});
  }
}

// The node that renewals write. The first session of all finds nothing, and makes what is always there.
void zookeeper_engine::set_up(member& m, int tries) {
  m.node = layout_.sessions() + '/' + core::to_hex(wire::writer{}.big(m.number).take());
  m.setting_up = true;
  m.link.session().call(op::create, wire::create_body(m.node, {}, config_.rights, wire::node_kind::ephemeral), now(),
                        [this, &m, tries](const response& r) { on_set_up(m, tries, r); });
}

void zookeeper_engine::on_set_up(member& m, int tries, const response& r) {
  m.setting_up = false;
  if (r.is != response::how::answered || m.over) return;  // when it is up again
  if (r.error == wire::no_node && tries < 3) {
    m.setting_up = true;
    return make_base(m, [this, &m, tries](const response& base) {
      base.is == response::how::answered && !base.good() ? on_set_up(m, tries, base) : set_up(m, tries + 1);
    });
  }
  const bool well = r.good() || r.error == wire::node_exists;
  auto waiting = std::exchange(m.waiting, {});
  auto f = failed(r, false);
  f.words += " (" + m.node + ')';
  if (r.error == wire::no_auth && config_.servers.who)
    f.words += ": others have made it, or this user with another password";
  if (!well) tell_down(f);
  if (well && !std::exchange(m.ready, true)) tell_ready(m);
  for (auto& w : waiting) w(well ? nullptr : &f);
}

// By the session that asks for it: whoever waits for another may have gone before. Told what is in the way of the first that cannot be
// made; those below it just miss it.
void zookeeper_engine::make_base(member& m, const std::function<void(const response&)>& then) {
  const auto paths = layout_.always_there();
  const auto wrong = std::make_shared<std::int32_t>(wire::ok);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto body = wire::create_body(paths[i], {}, config_.rights, wire::node_kind::lasting);
    const bool last = i + 1 == paths.size();
    m.link.session().call(op::create, std::move(body), now(), [then, wrong, last](const response& r) {
      const bool expected = r.good() || r.error == wire::node_exists || r.error == wire::no_node;
      if (!expected && *wrong == wire::ok) *wrong = r.error;
      if (last) then({r.is, *wrong, r.sent});
    });
  }
}

void zookeeper_engine::member::on_gone() {
  if (!over) home->condemn(*this);
}

void zookeeper_engine::member::on_down(const std::string& words, bool refused) {
  const auto f = refused ? no(why::refused, errc::refused, "ZooKeeper: " + words)
                         : no(why::not_sent, errc::unavailable, "ZooKeeper: " + words);
  for (auto& w : std::exchange(waiting, {})) w(&f);
  if (!over && home->any_member() == nullptr) home->tell_down(f);
}

void zookeeper_engine::member::on_event(const wire::event& e) { home->on_event(*this, e); }

void zookeeper_engine::tell_up() {
  said_.clear();
  if (auto* t = told()) t->up({config_.shown, version_, {}});
}

// What it is, a session does not tell: the first server is asked for it beside, and nobody waits long for that. With TLS it does
// not answer.
void zookeeper_engine::tell_ready(const member& m) {
  if (config_.servers.tls || std::exchange(asked_version_, true)) return tell_up();
  const auto& server = m.link.server();
  for (auto to : config_.servers.hosts) {
    if (to.port == 0) to.port = wire::default_port;
    if (to.host + ':' + std::to_string(to.port) != server) continue;
    return wire::ask_server(loop_, to, "srvr", std::min(version_within, around().request_timeout / 4),
                            [this](const std::string& words) {
                              version_ = version_in(words);
                              if (any_member() != nullptr) tell_up();
                            });
  }
  tell_up();
}

// Said once, but a new reason is news.
void zookeeper_engine::tell_down(const failure& f) {
  if (said_.size() >= said_max || !said_.insert(f.words).second) return;
  if (auto* t = told()) t->down(f);
}

// All it had is gone, though the server may not have noticed yet.
void zookeeper_engine::condemn(member& m) {
  m.over = true;
  m.life.condemn();
  const auto all = m.entries;
  for (const auto& who : all) {
    const auto at = mine_.find(who);
    if (at == mine_.end()) continue;
    if (at->second.in == &m) {
      may_have_moved(who) ? void() : lose(who);
    } else {  // the place beside a hold in another session: servers may have it for a while
      at->second.place_in = nullptr;
    }
  }
  if (m.number != 0) relist(m.number);
  for (const auto& who : std::exchange(m.doubts, {})) {  // where they were, or nowhere
    mine_.at(who).in_doubt = nullptr;
    if (!mine_.at(who).leaving && mine_.at(who).in->usable(now())) own_changed(who);
  }
  const auto f = no(why::not_sent, errc::unavailable, "the session it was to live by has ended");
  for (auto& w : std::exchange(m.waiting, {})) w(&f);
  for (auto& w : std::exchange(m.renewals, {})) w(false);
  if (m.link.session().up()) m.link.session().close(now(), [&m](const response&) { m.closed = true; });
  if (!m.link.session().up() || m.link.session().gone()) m.closed = true;
  if (m.primary && !closed()) {
    member& next = add_member(m.length);
    next.primary = true;
    if (next.since - m.since < short_lived) next.link.rest_until(next.since + short_lived);
  }
  m.primary = false;
}

// --- renewal

void zookeeper_engine::renew(member& m, std::function<void(bool)> then) {
  if (then) m.renewals.push_back(std::move(then));
  if (m.renewing) return;
  m.renewing = true;
  const auto done = [this, &m](const response& r) {
    m.renewing = false;
    if (r.good()) {
      m.life.renewed(r.sent, m.link.session().read_by(r.sent - m.life.unheard()), now());
      m.left_in_vain = 0;
    }
    const bool wrong = r.is == response::how::answered && !r.good();
    if (wrong) m.not_renewed = now();
    if (wrong && r.error == wire::session_expired && !m.over) return condemn(m);
    const bool live = r.good() && m.life.live(now());
    for (auto& w : std::exchange(m.renewals, {})) w(live);
    if (wrong && r.error == wire::no_node && !m.over) set_up(m, 0);  // somebody took it away
  };
  m.link.session().call(op::set_data, wire::data_body(m.node, {}, -1), now(), done);
}

// That it lives until then; or as long as it can.
void zookeeper_engine::prove(member& m, time_point until, std::function<void(bool)> then) {
  const auto t = now();
  const bool just_renewed = t - m.life.kept() < m.life.ttl() / 8;
  if (m.life.live(t) && (m.life.end() >= until || just_renewed)) return then(true);
  renew(m, std::move(then));
}

}  // namespace tyer::zookeeper

extern "C" tyer::engine::made tyer_engine_zookeeper(tyer::core::uri& address, const tyer::engine::environment& e) {
  auto c = tyer::zookeeper::read(address);
  if (c.error) return {nullptr, std::move(c.error)};
  return {std::make_unique<tyer::zookeeper::zookeeper_engine>(std::move(c.value), e), {}};
}
