// The desk and a ticket on its way back.
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

lane* desk::detach(ticket& t) noexcept {
  lane* l = std::exchange(t.home, nullptr);
  if (l != nullptr) {
    --l->tickets;
    if (l->standing == &t) l->standing = nullptr;
  }
  keeper_.remove(t);
  t.changing.reset();
  return l;
}

// An attempt that nobody wants any more.
void desk::retire(ticket& t) {
  const acquire& a = *t.acquiring();
  if (!a.touched() && (t.held_back || a.where() != acquire::state::asking)) return erase(t);
  const auto settled = a.settled_at();
  const auto now = clock_.now();
  t.late_until = a.unsettled_until();
  begin_release(t, lease::release{settled, std::max(settled, now) + t.what->ttl}, now);
}

void desk::begin_release(ticket& t, lease::release r, lease::time_point first) {
  t.stage = std::move(r);
  lease::release& machine = *t.releasing();
  act(t, first <= clock_.now() ? machine.start() : machine.start_at(first));
}

void desk::send_release(ticket& t) noexcept {
  using reply = reply_to<fate, &under_way::others, &desk::on_release_answer, &desk::on_dropped, core::id>;
  try {
    engine_.release({t.who, t.what->name, t.how}, t.clean, reply{under_way_, t.who});
  } catch (const std::bad_alloc&) {  // the reply was dropped, and said so
  }
}

void desk::on_release_answer(const core::id& who, engine::outcome<fate>&& o) {
  ticket* t = find(who);
  if (t == nullptr || t->releasing() == nullptr) return;
  lease::release& r = *t->releasing();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    const auto kind = f->kind;
    t->last = to_public(std::move(*f));
    act(*t, r.on_failure(clock_.now(), kind));
  } else {
    act(*t, r.on_answer(o.sent, std::get<fate>(o.result)));
  }
}

void desk::act(ticket& t, lease::release::verb v) {
  switch (v) {
    case lease::release::verb::send: return send_release(t);
    case lease::release::verb::none: {
      wake(t);
      // It may have to be repeated, but the owner need not wait for that.
      if (t.releasing()->result() == lease::release::outcome::unknown || !t.told) return;
      auto told = std::move(t.told);
      return told({}, to_public(t.releasing()->result()));
    }
    case lease::release::verb::done: {
      const auto result = t.releasing()->result();
      auto told = std::move(t.told);
      auto words = result == lease::release::outcome::unknown ? std::move(t.last) : tyer::failure{};
      erase(t);
      if (told) told(std::move(words), to_public(result));
      return;
    }
  }
}

void desk::erase(ticket& t) noexcept {
  keeper_.remove(t);
  ticket_times_.dismiss(t);
  tickets_.erase(core::id{t.who});
}

}  // namespace tyer::runtime
