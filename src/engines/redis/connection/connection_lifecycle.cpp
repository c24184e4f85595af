// How a connection is established, and how it is lost.
#include "engines/redis/connection/connection_body.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>

namespace tyer::redis {

namespace {

constexpr milliseconds arrive_limit{5000};  // at least, for name, TCP, TLS and greeting together
constexpr milliseconds look_pause_least{3000}, look_pause_most{300000};

// The value of `field` in an answer of INFO.
std::string_view info_field(std::string_view info, std::string_view field) {
  const auto at = info.find(field);
  if (at == info.npos) return {};
  info.remove_prefix(at + field.size());
  return info.substr(0, info.find('\r'));
}

engine::server_facts facts_from(std::string_view info) {
  const auto valkey = info_field(info, "\nvalkey_version:");
  const auto redis = info_field(info, "\nredis_version:");
  return {std::string{info_field(info, "\nrun_id:")},
          valkey.empty() ? "redis " + std::string{redis} : "valkey " + std::string{valkey}};
}

}  // namespace

// The connection: an attempt resolves, connects, greets, subscribes and prepares; then it is up.

void connection::body::attempt(time_point t) {
  stage_ = stage::arriving;
  resp3_ = true;
  resp2_works_ = false;
  ++attempts_;
  next_attempt_ = time_point::max();
  arrive_by_ = t + std::max(s_.request_timeout, arrive_limit);
  last_read_ = t;
  const auto& to = s_.where.server;
  lookup_.start(context_, to.host, to.port, [this](const session::error_code& e, net::lookup::addresses found) {
    if (e) return lose("the host name " + s_.where.server.host + " cannot be resolved: " + e.message());
    addresses_ = std::move(found);
    next_address_ = 0;
    try_next();
  });
}

// Catches here: outside of this Asio handler it would not be known which connection threw.
void connection::body::try_next() {
  try {
    try_address();
  } catch (const std::bad_alloc&) {
    broken("out of memory");
  } catch (const boost::system::system_error& e) {  // Asio finds no thread for its resolver
    broken(e.code().message());
  }
}

// Each address gets its share of the time, so that one that drops our packets does not use up the time of the others.
void connection::body::try_address() {
  auto made = tls::make_context(s_.where);
  if (!made.words.empty()) return lose(std::move(made.words));
  const auto left = std::max(std::chrono::ceil<milliseconds>(arrive_by_ - now()), milliseconds{1});
  const auto share = left / static_cast<std::int64_t>(addresses_.size() - next_address_);
  const auto& to = addresses_[next_address_++];
  session_ =
      std::make_shared<session>(context_, std::move(made.value), s_.where, resp3_, static_cast<session::host&>(*this));
  session_->self = session_;
  session_->start(to, std::max(share, milliseconds{1}), left,
                  [this, self = shared_from_this(), mine = session_](session::error_code e) {
                    if (mine != session_ || try_resp2(*mine, e)) return;
                    if (!resp3_ && mine->is_silent()) return lose(without_hello_);
                    if (mine->was_connected() || next_address_ == addresses_.size())
                      return lose(mine->explain(e), mine->is_refused() ? why::refused : why::not_sent);
                    mine->end();
                    try_next();
                  });
}

// Sentinels and nodes of a cluster are servers: they know RESP3.
bool connection::body::try_resp2(session& s, const session::error_code& e) {
  const bool may = s_.where.deployment == shape::one_server && s_.purpose != use::listening;
  if (!may || stage_ != stage::arriving || !s.may_know_only_resp2()) return false;
  without_hello_ = s.explain(e);
  said_resp2_ = !s.is_silent();
  resp2_works_ |= said_resp2_;
  try_again_in(false);
  return true;
}

// Silence tells little. While we speak RESP2 because of it, HELLO is tried beside, ever more seldom.
void connection::body::look_again(time_point t) {
  end_look();
  next_look_ = t + look_pause_;
  look_pause_ = std::min(2 * look_pause_, look_pause_most);
  auto made = tls::make_context(s_.where);
  if (!made.words.empty()) return;
  try {
    look_ = std::make_shared<second_look>(context_, std::move(made.value), s_.where);
    look_->start(addresses_[next_address_ - 1], arrive_limit, [this] {
      if (!closing_) move_to(s_.where.server, s_.where.shown + " speaks RESP3 after all, and is connected to anew");
    });
  } catch (const std::bad_alloc&) {  // the next one
  } catch (const boost::system::system_error&) {}
}

// The same address once more.
void connection::body::try_again_in(bool resp3) {
  resp3_ = resp3;
  session_->end();
  --next_address_;
  try_next();
}

void connection::body::on_greeted(session& s) {
  asio::post(context_, [this, self = shared_from_this(), mine = s.self.lock()] {
    if (mine != session_) return;
    mine->commands = mine->stream.get_usage().commands_sent;
    if (s_.inbox.empty() || !resp3_) return prepare();
    subscribe(true, s_.inbox, false);
  });
}

namespace {

// Boost.Redis 1.88 knows that SUBSCRIBE and UNSUBSCRIBE get no reply, but does not know SSUBSCRIBE and SUNSUBSCRIBE. So
// those are added under the unsharded name, and the S is inserted when the channel is written.
struct sharded_channel {
  std::string_view name;
  friend void boost_redis_to_bulk(std::string& payload, const sharded_channel& c) {
    const auto at = payload.rfind('$');
    const auto word = payload.substr(payload.find('\n', at) + 1);  // with its line end
    payload.resize(at);
    payload += '$' + std::to_string(word.size() - 1) + "\r\nS" + word;
    payload += '$' + std::to_string(c.name.size()) + "\r\n";
    payload += c.name;
    payload += "\r\n";
  }
};

}  // namespace

// It is sent alone, before any other request or on a connection that only listens: Boost.Redis expects no reply to it, so
// an error (an ACL without channels) would be taken for the reply to the next request, and every later reply would go to
// the wrong request.
void connection::body::subscribe(bool on, std::string_view channel, bool sharded) {
  if (!session_) return;
  auto request = std::make_shared<boost::redis::request>();
  const std::string_view word = on ? "SUBSCRIBE" : "UNSUBSCRIBE";
  if (sharded)
    request->push(word, sharded_channel{channel});
  else
    request->push(word, channel);
  session_->stream.async_exec(*request, boost::redis::ignore,
                              [mine = session_, request](session::error_code, std::size_t) {});
}

void connection::body::on_subscribed(session& s, std::string_view channel, std::string_view error) {
  if (s_.purpose == use::listening) {
    return note(error.empty() ? item::kind::listening : item::kind::not_allowed, channel, error);
  }
  if (!error.empty()) {
    log(log_level::warning, s_.where.shown + " does not allow a subscription to " + s_.inbox +
                                ", so waiters poll instead: " + std::string{error});
  }
  asio::post(context_, [this, self = shared_from_this(), mine = s.self.lock()] {
    if (mine == session_ && stage_ == stage::arriving) prepare();
  });
}

void connection::body::on_unsubscribed(session&, std::string_view channel) {
  if (s_.purpose == use::listening) note(item::kind::silenced, channel, {});
}

void connection::body::on_push(std::string_view channel, std::string_view message) {
  note(item::kind::message, s_.purpose == use::listening ? channel : std::string_view{}, message);
}

void connection::body::note(item::kind what, std::string_view channel, std::string_view text) {
  make_room(1);
  messages_.push_back({std::string{channel}, std::string{text}});
  ready_.push_back({what, 0, nullptr});
}

void connection::body::prepare() {
  clock_.forget();
  if (s_.purpose == use::listening) return prepared();
  if (!resp3_) return prepare_in_resp2();
  preparing_ = speaks_of_locks() ? 3 : 1;
  const auto one_more = [this, mine = attempts_](const received& r, auto take) {
    if (mine != attempts_ || stage_ != stage::arriving) return;
    if (r.wrong == nullptr)
      take(r);
    else
      drop_because(*r.wrong);
    if (--preparing_ == 0 && drop_.empty()) prepared();
  };
  const auto text = [](const received& r) { return r.words.empty() ? std::string_view{} : r.words[0]; };
  constexpr std::string_view server[]{"server"}, replication[]{"replication"};
  // First, since it says why a server that is none of ours does not know the rest.
  send("INFO", server, nullptr, [this, one_more, text](const received& r) {
    one_more(r, [this, text](const received& x) { check_server(text(x)); });
  });
  if (speaks_of_locks()) {
    load_scripts();
    send("INFO", replication, nullptr, [this, one_more, text](const received& r) {
      one_more(r, [this, text](const received& x) { check_role(text(x)); });
    });
    send("TIME", {}, nullptr, [this, one_more](const received& r) {
      one_more(r, [this](const received& x) { note_time(x.sent, x.came, x.words); });
    });
  }
  flush();
}

// An answer to what we ask before the connection is up: a login that lacks a right will lack it at the next attempt too.
void connection::body::drop_because(const failure& wrong) {
  if (!drop_.empty()) return;
  drop_ = s_.where.shown + ": " + wrong.words;
  drop_kind_ = wrong.code == errc::refused ? why::refused : why::not_sent;
}

// What it does not tell is not checked.
void connection::body::prepare_in_resp2() {
  preparing_ = 1;
  send("EVAL", by_one_key(resp2::time_and_info), nullptr, [this, mine = attempts_](const received& r) {
    if (mine != attempts_ || stage_ != stage::arriving) return;
    preparing_ = 0;
    if (r.wrong != nullptr) return drop_because(*r.wrong);
    if (r.words.size() != 3) return drop_because(away(why::not_sent, "EVAL does not work"));
    note_time(r.sent, r.came, r.words.first(2));
    if (speaks_of_locks()) check_role(r.words[2]);
    check_server(r.words[2]);
    check_age(r.words[2]);
    if (!drop_.empty()) return;
    // A connection that was closed without a word may have been cut by chance: HELLO is tried once more.
    if (!std::exchange(resp2_works_, true)) return try_again_in(true);
    log(outage_ ? log_level::debug : log_level::warning,
        s_.where.shown +
            " does not speak RESP3, so nothing is pushed: waiters look again instead, and a holder cannot be asked");
    prepared();
  });
  flush();
}

// A server that knows RESP3 is not too old.
void connection::body::check_age(std::string_view info) {
  const auto version = info_field(info, "\nredis_version:");
  for (const char* old : {"2.", "3.", "4.", "5.", "6.0."}) {
    if (version.starts_with(old)) drop_ = greeting::too_old(s_.where, version);
  }
}

void connection::body::check_role(std::string_view info) {
  if (info_field(info, "role:") == "slave") drop_ = s_.where.shown + " is a replica; connect to its primary";
}

void connection::body::check_server(std::string_view info) {
  facts_ = facts_from(info);
  const auto valkey = info_field(info, "\nserver_mode:");
  const auto mode = valkey.empty() ? info_field(info, "\nredis_mode:") : valkey;
  const bool node = mode == "cluster";
  if (speaks_of_locks() && mode == "sentinel") {
    drop_ = s_.where.shown + " is a sentinel; connect with redis+sentinel://";
  } else if (s_.purpose == use::locks && node) {
    drop_ = s_.where.shown + " is a node of a cluster; connect with redis+cluster://";
  } else if (s_.purpose == use::shard && !node) {
    drop_ = s_.where.shown + " is not a node of a cluster; connect with redis://";
  }
}

void connection::body::prepared() {
  const auto t = now();
  stage_ = stage::up;
  reconnect_.up(t);
  next_time_ = t + clock_interval;
  if (!resp3_ && !said_resp2_) next_look_ = t + (look_pause_ = look_pause_least);
  outage_ = told_refused_ = false;
  ready_.push_back({item::kind::up, 0, nullptr});
}

// If the server refuses (an ACL without SCRIPT), every call falls back to sending the text.
void connection::body::load_scripts() {
  if (loading_scripts_ > 0 || !resp3_) return;
  for (const script* s : s_.loads) {
    ++loading_scripts_;
    const std::array<std::string_view, 2> words{"LOAD", s->text};
    send("SCRIPT", words, nullptr, [this, mine = attempts_](const received& r) {
      --loading_scripts_;
      if (r.wrong == nullptr || mine != attempts_ || stage_ == stage::away) return;
      if (r.wrong->words.starts_with("LOADING") && drop_.empty()) drop_ = s_.where.shown + ": " + r.wrong->words;
      log(log_level::warning, s_.where.shown + ": SCRIPT LOAD: " + r.wrong->words);
    });
  }
}

void connection::body::move_to(const core::endpoint& server, const std::string& why) {
  s_.where = s_.where.at(server);
  if (stage_ != stage::away) lose(why);
  reconnect_.begin_anew(now());
  if (listener_ != nullptr && !closing_) next_attempt_ = now();
}

// An attempt under way may still be refused because of the server's old role: then the next attempt comes soon.
void connection::body::hurry() {
  if (stage_ == stage::up) return;
  const auto t = now();
  reconnect_.begin_anew(t);
  if (stage_ == stage::away && listener_ != nullptr && !closing_) next_attempt_ = t;
}

// Called from a callback, so the drop happens at the end of the delivery.
void connection::body::give_up(std::string why) {
  if (drop_.empty() && stage_ != stage::away) drop_ = std::move(why);
}

// Reserves all memory first: if that fails, nothing has changed.
void connection::body::lose(std::string words, why kind) {
  std::size_t items = 1 + (open_ != nullptr ? open_->entries.size() : 0);
  for (const batch* b : flying_) items += b->entries.size();
  make_room(items);
  for (batch* b : flying_) b->lost.words = words;
  if (open_ != nullptr) open_->lost.words = words;
  failure gone = away(kind, words);

  const auto t = now();
  const auto pause = std::chrono::ceil<milliseconds>(kind == why::refused ? reconnect_.refused(t) : reconnect_.lost(t));
  next_attempt_ = t + pause / 2 + milliseconds{random_() % static_cast<unsigned>(pause.count() / 2 + 1)};
  stage_ = stage::away;
  next_time_ = time_point::max();
  absence_ = std::move(gone);

  end_look();
  lookup_.forget();
  std::uint64_t written = 0;
  if (const auto old = std::exchange(session_, nullptr)) {
    written = old->stream.get_usage().commands_sent;
    old->end();
  }
  for (; !flying_.empty(); flying_.pop_front()) {
    batch& b = *flying_.front();
    fail(b, b.last_command <= written ? why::unknown : why::not_sent, words);
  }
  if (batch* b = std::exchange(open_, nullptr)) fail(*b, why::not_sent, words);

  // Said once, but that the server refuses us is news: waiting does not help. The client logs what it is told itself.
  const bool refuses = kind == why::refused && !std::exchange(told_refused_, true);
  const bool is_news = !std::exchange(outage_, true) || refuses;
  if (!is_news || s_.purpose != use::locks) log(is_news ? log_level::warning : log_level::debug, words);
  if (is_news && !closing_) ready_.push_back({item::kind::down, 0, nullptr});
}

// During the first attempt: which step it waits for. Later: why the connection was lost.
failure connection::body::why_away() const {
  if (stage_ != stage::arriving || outage_) return absence_;
  return away(why::not_sent,
              session_ ? session_->explain_slowness() : greeting::too_slow(s_.where, greeting::step::looking_up));
}

// Reserves memory for this many items: adding them then cannot fail.
void connection::body::make_room(std::size_t items) {
  if (ready_.capacity() - ready_.size() < items) ready_.reserve(std::max(2 * ready_.size(), ready_.size() + items));
}

void connection::body::fail(batch& b, why kind, const std::string& words) {
  b.lost.words = words;
  b.lost.kind = kind;
  b.lost.code = make_error_code(kind == why::unknown ? errc::outcome_unknown : errc::unavailable);
  for (std::uint32_t i = 0; i < b.entries.size(); ++i) {
    if (b.entries[i].now != batch::state::waiting) continue;
    b.entries[i].now = batch::state::lost;
    ready_.push_back({item::kind::reply, i, &b});
  }
}

}  // namespace tyer::redis
