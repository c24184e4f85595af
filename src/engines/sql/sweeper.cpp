#include "engines/sql/sweeper.hpp"

#include <utility>

namespace tyer::sql {

namespace {

using namespace std::chrono_literals;

constexpr auto every = 10min;
constexpr auto unused_for = 24h;  // until the row of a name goes: the time is a floor of its tokens by then

}  // namespace

void sweeper::on_up(time_point now) {
  if (due_ == time_point::max()) due_ = now + every;
}

void sweeper::on_time(time_point now) {
  if (due_ > now) return;
  due_ = now + every;
  if (!link_.keeps_session()) ask(says_.collect_bells(), [](const answers&) {});
  ask(says_.sweep_turn(every), [this](const answers& a) {
    if (!says_.is_turn(a)) return;
    ask(says_.sweep_rest(unused_for), [](const answers&) {});
    sweep({});
  });
}

void sweeper::sweep(const std::string& from) {
  ask(says_.sweep(unused_for, from), [this](const answers& a) {
    for (const row& r : a.back().rows) setting_.found(r[0].bytes);
    if (const auto next = dialect::swept_to(a)) sweep(*next);
  });
}

void sweeper::ask(exchange what, done then) {
  if (!link_.is_up() || setting_.closed() || what.empty()) return;
  link_.ask(std::move(what), setting_.now() + setting_.patience, {.when = urgency::some_time},
            [then = std::move(then)](link::said&& s) mutable {
              if (const auto* all = std::get_if<answers>(&s)) then(*all);
            });
}

}  // namespace tyer::sql
