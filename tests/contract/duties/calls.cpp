#include "contract/duties/calls.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::contract {

namespace {

template <class T>
engine::reply<T> into(told_ptr t) {
  return [t = std::move(t)](outcome<T>&& o) {
    ++t->times;
    t->sent = o.sent;
    t->when = core::boot_clock{}.now();
    if (auto* f = std::get_if<engine::failure>(&o.result)) t->failure = std::move(*f);
  };
}

void keep(client& c, const want& w, fate as, told_ptr t) {
  const auto one = w.target();
  c.raw().keep({&one, 1}, as, 20s, into<engine::kept>(std::move(t)));
}

constexpr auto asks_server = call_kind::needs::server;
constexpr auto asks_nobody = call_kind::needs::nobody;

constexpr std::array kinds{
    call_kind{"acquire what is free", asks_server,
              [](client& c, const stage&, told_ptr t) {
                c.raw().acquire(c.wants("free").request(), into<answer>(std::move(t)));
              }},
    call_kind{"acquire what is taken", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().acquire(c.wants(s.taken.name).request(), into<answer>(std::move(t)));
              }},
    call_kind{
        "acquire what is already held", asks_server,
        [](client& c, const stage& s, told_ptr t) { c.raw().acquire(s.held.request(), into<answer>(std::move(t))); }},
    call_kind{"acquire what is already waited for", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().acquire(s.waiting.request(), into<answer>(std::move(t)));
              }},
    call_kind{"acquire for no time at all", asks_nobody,
              [](client& c, const stage&, told_ptr t) {
                auto w = c.wants("free");
                w.ttl = 0ms;
                c.raw().acquire(w.request(), into<answer>(std::move(t)));
              }},
    call_kind{"acquire too late", asks_nobody,
              [](client& c, const stage&, told_ptr t) {
                auto w = c.wants("free");
                w.not_after = -10s;
                c.raw().acquire(w.request(), into<answer>(std::move(t)));
              }},
    call_kind{"keep a hold", asks_server,
              [](client& c, const stage& s, told_ptr t) { keep(c, s.held, fate::holding, std::move(t)); }},
    call_kind{"keep a place", asks_server,
              [](client& c, const stage& s, told_ptr t) { keep(c, s.waiting, fate::waiting, std::move(t)); }},
    call_kind{"keep too many at once", asks_nobody,
              [](client& c, const stage& s, told_ptr t) {
                const std::vector<engine::target> all(c.can().keep_batch + 1, s.held.target());
                c.raw().keep(all, fate::holding, 20s, into<engine::kept>(std::move(t)));
              }},
    call_kind{"confirm", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().confirm(s.held.target(), 20s, into<engine::kept>(std::move(t)));
              }},
    call_kind{"convert", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().convert(s.held.target(), mode::shared, 20s, into<answer>(std::move(t)));
              }},
    call_kind{
        "lift", asks_server,
        [](client& c, const stage& s, told_ptr t) { c.raw().lift(s.held.target(), 1, into<fate>(std::move(t))); }},
    call_kind{"ask", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().ask(s.taken.name, "please", into<std::uint32_t>(std::move(t)));
              }},
    call_kind{
        "show", asks_server,
        [](client& c, const stage& s, told_ptr t) { c.raw().show(s.taken.name, into<engine::page>(std::move(t))); }},
    call_kind{"look", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().look(s.taken.name, false, into<engine::page>(std::move(t)));
              }},
    call_kind{"list", asks_server,
              [](client& c, const stage&, told_ptr t) { c.raw().list("", "", 10, into<engine::page>(std::move(t))); }},
    call_kind{"diagnose", call_kind::needs::about_servers,
              [](client& c, const stage&, told_ptr t) {
                c.raw().diagnose(into<std::vector<engine::finding>>(std::move(t)));
              }},
    call_kind{"evict", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().evict(s.waiting.target(), "test", into<fate>(std::move(t)));
              }},
    call_kind{"release", asks_server,
              [](client& c, const stage& s, told_ptr t) {
                c.raw().release(s.held.target(), true, into<fate>(std::move(t)));
              }},
    call_kind{"release what is not there", asks_server,
              [](client& c, const stage&, told_ptr t) {
                c.raw().release(c.wants("free").target(), true, into<fate>(std::move(t)));
              }},
};

}  // namespace

std::span<const call_kind> every_kind_of_call() { return kinds; }

stage set_up(client& by, client& other) {
  stage s{by.wants("held"), other.wants("taken"), by.waits("taken")};
  s.waiting.enqueue = by.can().queue;
  by.lock(s.held);
  other.lock(s.taken);
  if (s.waiting.enqueue) by.enqueue(s.waiting);
  return s;
}

std::vector<made_call> make_every_call(client& c, const stage& s) {
  std::vector<made_call> all;
  for (const auto& kind : kinds) {
    auto& one = all.emplace_back(&kind, c.now(), std::make_shared<told>(), false);
    kind.make(c, s, one.is);
    one.inline_reply = one.is->times > 0;
  }
  return all;
}

bool all_answered(const std::vector<made_call>& all) {
  return std::ranges::all_of(all, [](const made_call& c) { return c.is->times > 0; });
}

}  // namespace tyer::contract
