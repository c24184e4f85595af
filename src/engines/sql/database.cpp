// The engine as a whole: what it can, when it does what, and its end.
#include "engines/sql/database.hpp"

#include "engines/kit/options.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t under_way_max = 64;  // so that 64 callers on 64 names have all they ask for on its way
constexpr std::size_t heard_max = 32;
constexpr auto bells_least = 10ms, bells_most = 250ms, bells_while_holding = 500ms;
constexpr milliseconds usual_most = 400ms;  // so nobody whose turn comes sooner than usual hears of it 50 ms late

kit::limits limits_of(std::uint32_t waiters_max) {
  kit::limits l;
  l.stored = true;
  l.waiters = waiters_max;
  l.ttl = std::chrono::hours{24};
  return l;
}

}  // namespace

database::database(const seam::environment& e, parts p, std::uint32_t waiters_max)
    : frame(e, std::move(p), {.patience = e.request_timeout, .under_way_max = under_way_max}),
      limits_(limits_of(waiters_max)) {}

database::~database() { fall_silent(); }

seam::capabilities database::can() const noexcept {
  auto all = kit::all_modes(keep_batch);
  all.lock_delay = all.lift = true;
  return all;
}

exchange database::greeting() { return says_->greeting(link_.keeps_session()); }

std::optional<failure> database::greeted(const answers& a) {
  server_ = {};
  auto wrong = says_->greeted(a, server_);
  server_.rings = server_.rings && link_.keeps_session();
  return wrong;
}

// Another server, or the same after a restart, may have another past: each hold has to show that it stands.
void database::on_up() {
  if (std::exchange(server_was_, server_.id) != server_.id) {
    for (auto& [who, o] : own_) o.session = 0;
  }
  sweeper_.on_up(now());
  heard_.clear();  // another server counts them anew
  if (!server_.rings) bells_due_ = now();
  const bool is_news = !link_.keeps_session() && !std::exchange(said_pooled_, true);
  if (is_news && says_->pooled() != nullptr) warn(says_->pooled());
  if (told() != nullptr) told()->up({server_.id, server_.version, server_.clock});
}

void database::on_down(const failure& f) {
  kit::lease_pool::output out;
  pool_.on_down(f, now(), out);
  carry_out(out);
  if (told() != nullptr) told()->down(f);
}

time_point database::next_due() const {
  if (!keeps_.empty()) return time_point::min();
  const auto bells = server_.rings || !link_.is_up() || looking_for_bells_ ? time_point::max() : bells_due_;
  return std::min({link_.due(), pool_.due(), bells, sweeper_.due(), next_answer()});
}

void database::on_time(time_point t) {
  link_.on_time(t);
  if (!keeps_.empty()) flush_keeps();
  kit::lease_pool::output out;
  pool_.on_time(t, out);
  if (!out.orders.empty() || !out.told.empty()) carry_out(out);
  if (bells_due_ <= t) on_bells(t);
  sweeper_.on_time(t);
  if (!slow_.empty()) answer_in_time(t);
}

// What was under way may have been lost with whoever waited for it.
void database::start_anew() {
  looking_for_bells_ = false;
  reaping_.clear();
  kept_alone_.clear();
  link_.break_off("there was no memory to go on with what was under way");
}

// --- bells ---

void database::on_rung(std::string payload) {
  answers one(1);
  one[0].rows.push_back({cell{false, 0, std::move(payload)}});
  for (const auto& b : says_->bells(one)) hear(b);
}

// Those that have to be looked for.

// An eighth of how long there was none, or is none usually: who waits for long waits for hardly longer, and costs little.
milliseconds database::bell_interval() const {
  if (waiting_.empty()) return bells_while_holding;
  return std::clamp<milliseconds>(std::max(without_bell(), usual_) / 8, bells_least, bells_most);
}

milliseconds database::without_bell() const { return std::chrono::duration_cast<milliseconds>(now() - last_bell_); }

void database::on_bells(time_point t) {
  if (server_.rings || !link_.is_up() || looking_for_bells_ || closed()) return;
  bells_due_ = t + bell_interval();
  const bool idle = waiting_.empty() && own_.empty();
  if (idle && was_idle_ && heard_.empty()) return;
  was_idle_ = idle;  // once more after the last has gone: why it went may be on its way
  looking_for_bells_ = true;
  link_.ask(says_->look_for_bells(), t + around().request_timeout, {.when = urgency::at_once}, [this](link::said&& s) {
    looking_for_bells_ = false;
    if (const auto* all = std::get_if<answers>(&s)) look_at(says_->bells(*all));
  });
}

// Those that were heard are deleted many at once, or when nothing comes any more: to delete one is dearer than to read it again.
void database::look_at(const std::vector<bell>& all) {
  const auto apart = without_bell();
  bool is_news = false;
  for (const auto& b : all) {
    if (!heard_.insert(b.number).second) continue;
    is_news = true;
    last_bell_ = now();
    hear(b);
  }
  if (is_news) {
    usual_ = std::min({apart, std::exchange(apart_, apart), usual_most});
    bells_due_ = std::min(bells_due_, now() + bell_interval());
  }
  const bool many = heard_.size() >= heard_max, quiet = now() - last_bell_ >= bells_most;
  if (many || quiet) forget_bells();
}

void database::forget_bells() {
  if (heard_.empty()) return;
  link_.ask(says_->forget_bells(std::exchange(heard_, {})), now() + around().request_timeout,
            {.when = urgency::at_once}, [](link::said&&) {});
}

// Sessions that no hold lives by go at once; the others end by themselves.
void database::do_close() {
  if (link_.is_up()) forget_bells();
  std::set<std::int64_t> in_use;
  for (const auto& [who, o] : own_) in_use.insert(o.session);
  const std::vector<std::int64_t> all{in_use.begin(), in_use.end()};
  kit::lease_pool::output out;
  pool_.close(all, out);
  if (link_.is_up()) carry_out(out);
}

}  // namespace tyer::sql
