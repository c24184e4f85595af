#include "engines/sql/link.hpp"

#include "engines/sql/copies.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

namespace {

using namespace std::chrono_literals;

constexpr auto between_tries = 2ms;
constexpr milliseconds let_in_least = 1s, let_in_most = 8s, silence_least = 500ms;
constexpr std::uint32_t passed_over_max = 8;
constexpr std::size_t pooled_max = 2;
constexpr const char* others_came_first = "more urgent requests to the database came first";

bool has_changed(const answered& a) { return !a.failed && (a.affected > 0 || !a.rows.empty()); }

}  // namespace

void link::open() {
  since_ = setting_.now();
  arrive();
}

void link::close() noexcept {
  state_ = state::closed;
  wire_->shut();
}

void link::arrive() {
  state_ = state::arriving;
  since_ = setting_.now();
  wire_->open(*this);
}

void link::on_open() {
  if (state_ != state::arriving) return;
  state_ = state::greeting;
  since_ = setting_.now();
  wire_->send(++last_, setting_.greeting());
}

void link::on_answers(std::uint64_t number, answers all) {
  if (state_ == state::greeting) {
    if (auto wrong = setting_.greeted(all)) {
      wire_->shut();
      return leave(*std::move(wrong));
    }
    state_ = state::up;
    heard_ = setting_.now();
    shut_out_ = 0;
    absence_ = {};
    said_down_ = said_refused_ = false;
    reconnect_.up(setting_.now());
    setting_.up();
    return flush();
  }
  heard_ = setting_.now();
  const auto at = under_way_.find(number);
  if (at == under_way_.end()) return;
  auto r = std::move(at->second);
  under_way_.erase(at);
  hurried_.erase(number);
  send_some();
  settle(std::move(r), std::move(all));
  send_some();
}

// An error of the server: tried again if it was not carried out, else told. What has decided is not said once more: it would find
// what it has changed itself.
void link::settle(request r, answers all) {
  auto bad = all.end();
  bool decided = false;
  for (std::size_t i = 0; i < std::min(all.size(), r.what.size()); ++i) {
    all[i].by = r.what[i].text;
    r.in_part |= !all[i].failed;
    decided |= r.what[i].decides && has_changed(all[i]);
    if (all[i].failed && !r.what[i].minor && bad == all.end()) bad = all.begin() + static_cast<std::ptrdiff_t>(i);
  }
  if (bad == all.end() || decided) {
    said s{std::move(all)};
    s.sent = r.sent;
    return r.back(std::move(s));
  }
  switch (setting_.what(*bad)) {
    case meaning::again:
      r.not_before = setting_.now() + between_tries * (1 << std::min(r.tries++, 6u));
      if (r.not_before < r.deadline) return put(std::move(r));
      return too_late(r, bad->words);
    case meaning::refused: return r.back(kit::no(why::refused, errc::refused, bad->words));
    case meaning::lost: return r.back(kit::no(why::unknown, errc::outcome_unknown, bad->words));
    case meaning::other_server: break;
  }
  const auto words = bad->words;
  too_late(r, words);
  break_off(words);
}

// Its deadline, or its server, is over.
void link::too_late(request& r, const std::string& words) {
  r.back(r.in_part ? kit::no(why::unknown, errc::outcome_unknown, words)
                   : kit::no(why::not_sent, errc::unavailable, words));
}

void link::on_broken(failure f) {
  if (state_ == state::away || state_ == state::closed) return;
  leave(std::move(f));
}

void link::break_off(const std::string& words) {
  if (state_ == state::away || state_ == state::closed) return;
  wire_->shut();
  leave(kit::no(why::unknown, errc::unavailable, words));
}

// Whatever was under way is unknown.
void link::leave(failure f) {
  const auto now = setting_.now();
  const bool refused = f.kind == why::refused;
  const auto pause = std::chrono::ceil<milliseconds>(refused ? reconnect_.refused(now) : reconnect_.lost(now));
  state_ = state::away;
  since_ = now + pause / 2 + milliseconds{chance_() % static_cast<std::uint32_t>(pause.count() / 2 + 1)};
  absence_ = f;
  auto lost = std::exchange(under_way_, {});
  hurried_.clear();
  const bool is_news = refused && !std::exchange(said_refused_, true);
  if (!std::exchange(said_down_, true) || is_news) setting_.down(f);
  f.kind = why::unknown;
  f.code = make_error_code(errc::outcome_unknown);
  for (auto& [number, r] : lost) r.back(failure{f});
}

// Those that wait are told at the next look at the time: nobody is answered while it asks.
void link::ask(exchange what, time_point deadline, manner by, then back) {
  request r{std::move(what), deadline, setting_.now(), {}, std::move(back), std::move(by)};
  if (has_room() && nobody_waits()) return send(std::move(r));
  put(std::move(r));
}

void link::put(request r) {
  due_ = std::min(due_, r.not_before > time_point{} ? r.not_before : r.deadline);
  line& to = r.not_before > time_point{} ? again_ : waiting_.at(static_cast<std::size_t>(r.by.when));
  to.push_back(std::move(r));
}

// Behind a pooler one is carried out after the other, however many were sent.
bool link::has_room() const noexcept {
  const auto most = wire_->keeps_session() ? setting_.under_way_max : std::min(setting_.under_way_max, pooled_max);
  return state_ == state::up && under_way_.size() < most;
}

bool link::nobody_waits() const noexcept { return std::ranges::all_of(waiting_, &line::empty); }

void link::turn_away() {
  const auto tell = [this](line all) {
    for (auto& r : all) {
      auto why_not = absence_;
      if (r.in_part) why_not.kind = why::unknown;
      r.back(std::move(why_not));
    }
  };
  for (line& l : waiting_) tell(std::exchange(l, {}));
  tell(std::exchange(again_, {}));
}

void link::send(request r) {
  const auto number = ++last_;
  r.sent = setting_.now();
  auto what = copy_of(r.what);  // kept, to be sent again
  const bool hurried = r.by.patience < silence_max();
  under_way_.emplace(number, std::move(r));
  if (hurried) hurried_.insert(number);
  wire_->send(number, std::move(what));
}

link::line* link::next_line() noexcept {
  auto& [at_once, soon, some_time] = waiting_;
  if (!at_once.empty()) return &at_once;
  const bool looks = !some_time.empty() && (soon.empty() || passed_over_ >= passed_over_max);
  passed_over_ = looks || some_time.empty() ? 0 : passed_over_ + 1;
  if (looks) return &some_time;
  return soon.empty() ? nullptr : &soon;
}

// Not while something is asked: nobody is answered then.
void link::send_some() {
  while (has_room()) {
    line* const from = next_line();
    if (from == nullptr) return;
    request r = std::move(from->front());
    from->pop_front();
    if (r.by.given_up && r.by.given_up()) {
      too_late(r, "it was given up before it was sent");
    } else if (r.deadline <= setting_.now()) {
      too_late(r, others_came_first);
    } else {
      send(std::move(r));
    }
  }
}

void link::flush() {
  const auto now = setting_.now();
  const auto why_not = state_ == state::up      ? others_came_first
                       : absence_.words.empty() ? "there was no connection to the database in time"
                                                : absence_.words;
  due_ = time_point::max();
  const auto look_at = [&](line all) {
    for (auto& r : all) {
      if (r.by.given_up && r.by.given_up()) {
        too_late(r, "it was given up before it was sent");
      } else if (r.deadline <= now) {
        too_late(r, why_not);
      } else {
        if (r.not_before <= now) r.not_before = {};
        put(std::move(r));
      }
    }
  };
  for (line& l : waiting_) look_at(std::exchange(l, {}));
  look_at(std::exchange(again_, {}));
  send_some();
}

// To connect and log in takes several answers, and a process of the server's: on a busy machine longer than a request may. But one
// whose answers vanish is left soon the first time.
milliseconds link::let_in_patience() const noexcept {
  return std::max(setting_.patience, std::min(let_in_least * (1 << std::min(shut_out_, 3u)), let_in_most));
}

// Not before it would have connected anew: whoever waits for less has been told by then.
milliseconds link::silence_max() const noexcept { return std::max(setting_.patience, silence_least); }

// Then it is given up. One that answers one after the other is not silent, however long the last of many has to wait for its turn.
time_point link::silent_until() const noexcept {
  if (under_way_.empty()) return time_point::max();
  auto first = std::max(under_way_.begin()->second.sent, heard_) + silence_max();
  for (const auto number : hurried_) {
    const auto& r = under_way_.find(number)->second;
    first = std::min(first, std::max(r.sent, heard_) + r.by.patience);
  }
  for (const request& r : waiting_.front()) {
    if (r.by.patience < silence_max()) first = std::min(first, std::max(r.sent, heard_) + r.by.patience);
  }
  return first;
}

time_point link::due() const noexcept {
  auto first = due_;
  if (is_refused() && !(nobody_waits() && again_.empty())) return time_point::min();
  if (state_ == state::away) return std::min(first, since_);
  if (state_ == state::arriving || state_ == state::greeting) return std::min(first, since_ + let_in_patience());
  if (state_ == state::up) first = std::min(first, silent_until());
  return first;
}

void link::on_time(time_point now) {
  if (state_ == state::away && since_ <= now) arrive();
  const bool arriving = state_ == state::arriving || state_ == state::greeting;
  if (arriving && since_ + let_in_patience() <= now) {
    const auto words = "the database did not let us in within " + std::to_string(let_in_patience().count()) + " ms";
    ++shut_out_;
    break_off(words);
  }
  if (state_ == state::up && silent_until() <= now) break_off("the database does not answer");
  if (is_refused()) turn_away();
  if (due_ <= now) flush();
}

}  // namespace tyer::sql
