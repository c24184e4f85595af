// The desk and one who wants to know now whether a hold stands. It is a renewal out of turn: the keeper goes on as before.
#include "runtime/desk_relay.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <vector>

namespace tyer::runtime {

using core::fate;
using phase = detail::hold_state::phase;

namespace {

tyer::failure not_said() noexcept try {
  return {errc::outcome_unknown, "the engine could not say whether the hold stands"};
} catch (const std::bad_alloc&) {
  return errc::outcome_unknown;
}

}  // namespace

struct desk::confirming {
  hold_ptr of;
  confirm_reply told;
  lease::time_point asked;
  lease::duration ttl;
};

ticket* desk::still_held(const hold_ptr& h) noexcept {
  ticket* t = h->where() == phase::held ? h->at_desk : nullptr;
  return t != nullptr && t->held() != nullptr ? t : nullptr;
}

void desk::confirm(const hold_ptr& h, confirm_reply told) {
  if (closed_) return told({}, false);  // given back, and nothing may be touched any more
  const ticket* t = still_held(h);
  if (t == nullptr) return told({}, false);
  const auto ttl = t->what->ttl;
  confirming c{h, std::move(told), clock_.now(), ttl};
  relay<engine::kept>(
      [this, c = std::move(c)](engine::outcome<engine::kept>&& o) mutable { on_confirmed(std::move(c), std::move(o)); },
      [who = t->who, name = t->what->name, how = t->how, ttl](engine::engine& e, auto reply) {
        const engine::target target{who, name, how};
        e.keep({&target, 1}, fate::holding, ttl, std::move(reply));
      });
}

// As a renewal that was answered, but for the place in the keeper. What is not known is no verdict. A hold that was lost
// meanwhile, or given back (closing the client does that too), is over whatever the engine says.
void desk::on_confirmed(confirming&& c, engine::outcome<engine::kept>&& o) {
  ticket* t = still_held(c.of);
  if (t == nullptr) return c.told({}, false);
  if (auto* f = std::get_if<engine::failure>(&o.result)) return c.told(to_public(std::move(*f)), false);
  const auto& [fates, ttl] = std::get<engine::kept>(o.result);
  if (fates.size() != 1 || fates[0] == fate::unknown || t->in_doubt) return c.told(not_said(), false);
  if (fates[0] != fate::holding) {
    lose_by_proof(*t, fates[0]);
    return c.told({}, false);
  }
  const auto proven = std::clamp<lease::duration>(ttl, lease::duration::zero(), c.ttl);
  if (t->held()->on_kept(o.sent, proven)) c.of->extend(t->held()->valid_until(), t->held()->alarm_at());
  if (o.sent < c.asked) return look_whether_it_stands(std::move(c), *t);
  c.told({}, c.of->where() == phase::held);
}

// The engine had no need to ask for a renewal. The question is about now, so it is asked in another way.
void desk::look_whether_it_stands(confirming&& c, const ticket& t) noexcept {
  try {
    relay<engine::page>(
        [this, c = std::move(c)](engine::outcome<engine::page>&& o) mutable { on_looked(std::move(c), std::move(o)); },
        [name = t.what->name](engine::engine& e, auto reply) { e.show(name, std::move(reply)); });
  } catch (const std::bad_alloc&) {  // dropped: that is an answer too
  }
}

void desk::on_looked(confirming&& c, engine::outcome<engine::page>&& o) {
  ticket* t = still_held(c.of);
  if (t == nullptr) return c.told({}, false);
  if (auto* f = std::get_if<engine::failure>(&o.result)) return c.told(to_public(std::move(*f)), false);
  const auto& page = std::get<engine::page>(o.result);
  const auto at = std::ranges::find(page.entries, t->who, &engine::entry::who);
  const bool listed = at != page.entries.end();
  if (listed && at->what == fate::holding) return c.told({}, true);
  if (!listed && !page.cursor.empty()) return c.told(not_said(), false);
  lose_by_proof(*t, listed ? at->what : fate::gone);
  c.told({}, false);
}

}  // namespace tyer::runtime
