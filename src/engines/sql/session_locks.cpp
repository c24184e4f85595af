// The engine as a whole: its connection, when it does what, and what it tells people. Its holds: session_holds.cpp.
#include "engines/sql/session_locks.hpp"

#include "core/id.hpp"
#include "engines/sql/prefix.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tyer::sql {

using seam::page;
using seam::target;

namespace {

using namespace std::chrono_literals;

failure never(const std::string& words) { return kit::no(why::refused, errc::refused, words); }
failure cannot(const std::string& words) { return kit::no(why::unsupported, errc::unsupported, words); }

constexpr const char* pooled_words =
    "?lock=session needs a session of its own: behind a pooler the lock would lie in another client's. Connect "
    "directly, or leave "
    "?lock=session out";

}  // namespace

session_locks::session_locks(const seam::environment& e, parts p, const session_tongue& sessions)
    : frame(e, std::move(p), {.patience = std::max(e.request_timeout, silence_max)}), sessions_(sessions) {}

session_locks::~session_locks() { fall_silent(); }

// Nothing is said twice by itself: a session can have one lock several times.
meaning session_locks::what(const answered& a) const {
  const auto m = frame::what(a);
  return m == meaning::again ? meaning::lost : m;
}

seam::capabilities session_locks::can() const noexcept {
  seam::capabilities able{.token = true};
  able.keep_batch = keep_batch;
  return able;
}

// --- the connection ---

exchange session_locks::greeting() {
  exchange all;
  facts_asked_ = 0;
  if (!link_.keeps_session()) {
    all.push_back({sessions_.who_am_i});
    return all;
  }
  all = sessions_.ask_facts();
  facts_asked_ = all.size();
  auto rest = says_->greeting(true);
  std::ranges::move(rest, std::back_inserter(all));
  return all;
}

std::optional<failure> session_locks::greeted(const answers& all) {
  if (!link_.keeps_session()) return never(pooled_words);
  const auto first = all.begin(), rest = first + static_cast<std::ptrdiff_t>(facts_asked_);
  server_ = {};
  if (auto wrong = says_->greeted({rest, all.end()}, server_)) return wrong;
  const answers own{first, rest};
  for (const auto& a : own) {
    if (a.failed) return never("the database refused to tell about its session: " + a.words);
  }
  const auto last_run = std::exchange(facts_, {}).run;
  if (const auto words = sessions_.learn(own, server_, facts_); !words.empty()) return never(words);
  if (facts_.run != last_run) run_known_since_ = now();
  return std::nullopt;
}

void session_locks::on_up() {
  sweeper_.on_up(now());
  asked_at_ = time_point::min();
  if (told() != nullptr) told()->up({server_.id, server_.version, server_.clock});
}

// The server frees what the session holds as soon as it notices. Nobody else may give it back: another session cannot.
void session_locks::on_down(const failure& f) {
  for (const id& who : session_.begin()) {
    if (told() != nullptr) told()->gone(who);
  }
  for (const auto& k : std::exchange(keeps_, {})) answer_keep(k);
  if (told() != nullptr) told()->down(f);
}

void session_locks::say(exchange what, time_point deadline, then back) {
  session_.said(now());
  link_.ask(std::move(what), deadline, std::move(back));
}

// What is said to a session depends on what it was told before: so nothing is written down for one that is yet to come.
void session_locks::say_when_up(const call_ptr<answer>& c, core::function<void()> go_on) {
  link_.ask({{sessions_.who_am_i}}, c->deadline, [this, c, go_on = std::move(go_on)](link::said&& s) mutable {
    if (const auto* f = std::get_if<failure>(&s)) {
      auto not_sent = *f;
      if (not_sent.kind == why::unknown) not_sent.kind = why::not_sent;
      return calls().fail(*c, std::move(not_sent));
    }
    if (!calls().too_late(*c, now())) go_on();
  });
}

time_point session_locks::next_due() const {
  return std::min({link_.due(), session_.next_end(), session_.relax_due(), sweeper_.due()});
}

// A hold that nobody keeps is over, though the session lives.
void session_locks::on_time(time_point t) {
  link_.on_time(t);
  for (const id& who : session_.over(t)) {
    const auto h = session_.remove(who);
    if (told() != nullptr) told()->gone(who);
    give_back(h->name, sessions_.give_back, nullptr);
  }
  if (session_.relax_due() <= t && link_.is_up()) {
    session_.told(0ms, t);
    say(sessions_.end_when_silent(0ms), t + around().request_timeout, [this](link::said&& s) {
      if (std::holds_alternative<failure>(s)) link_.break_off(untold);
    });
  }
  sweeper_.on_time(t);
}

// --- for people ---

void session_locks::do_ask(std::string_view, std::string_view, const call_ptr<std::uint32_t>& c) {
  calls().fail(*c, cannot("?lock=session cannot ask a holder to let go: there is no way from one session to another"));
}

void session_locks::do_evict(const target&, std::string_view, const call_ptr<fate>& c) {
  calls().fail(
      *c,
      cannot("?lock=session cannot take one lock from a session: end the session at the server, and all its locks are "
             "free (pg_terminate_backend, KILL)"));
}

void session_locks::do_show(std::string_view name, const call_ptr<page>& c) {
  list_names(full(name), full(name) + '\0', 1, c);
}

void session_locks::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                            const call_ptr<page>& c) {
  const auto begin = full(prefix);
  const auto from = cursor.empty() ? begin : std::string{cursor} + '\0';
  list_names(from, behind(begin), std::clamp<std::uint32_t>(limit, 1, names_max), c);
}

// How long a hold lives without a word from its session; only the session itself knows when that began.
void session_locks::list_names(std::string from, std::string to, std::uint32_t names, const call_ptr<page>& c) {
  exchange one;
  one.push_back({sessions_.list, {}});
  auto& values = one.back().values;
  values.reserve(3);
  values.emplace_back(std::move(from));
  values.emplace_back(std::move(to));
  values.emplace_back(std::int64_t{names});
  link_.ask(std::move(one), c->deadline, [this, names, c](link::said&& s) {
    if (auto* f = std::get_if<failure>(&s)) return calls().fail(*c, std::move(*f));
    page p;
    const auto& rows = std::get<answers>(s).back().rows;
    for (const row& r : rows) {
      p.entries.push_back({id::from(r.at(1).bytes), r[0].bytes.substr(around().prefix.size()), fate::holding,
                           seam::mode::exclusive, milliseconds{r.at(4).number / 1000},
                           static_cast<std::uint64_t>(r.at(2).number), r.at(3).bytes});
    }
    if (rows.size() >= names && names > 1) p.cursor = rows.back()[0].bytes;
    calls().answer(*c, {std::move(p)});
  });
}

std::vector<seam::finding> session_locks::findings(const answers& a) const {
  auto all = frame::findings(a);
  all.push_back({"?lock=session: the locks are gone when another server takes over, and when somebody ends the session",
                 "check tokens at what you protect, or leave ?lock=session out", 1});
  return all;
}

}  // namespace tyer::sql
