// Drives any engine from a test: one thread, no sleeping and hoping.
//
// A client owns an engine and writes down its events. A call is made and the loop is pumped until its reply is there;
// an answer of another kind than the test expects is thrown as a `surprise`, in words. Nothing here knows which engine
// it is: TYER_URI says where, can() says what.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::contract {

using namespace std::chrono_literals;
using engine::answer;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::mode;
using engine::outcome;
using engine::time_point;
using engine::why;

// More than any healthy engine takes for anything the tests ask of it.
inline constexpr auto patience = 10s;

struct surprise : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A request that owns its name, and the id under which it is repeated.
struct want {
  id who;
  std::string name;
  mode how = mode::exclusive;
  std::uint32_t take = 1, capacity = 1;
  milliseconds ttl{60s}, waiter_ttl{20s}, lock_delay{0}, not_after{20s};
  bool enqueue = false;
  std::uint64_t seen = 0;
  std::string owner = "contract test";

  engine::target target() const { return {who, name, how}; }
  engine::request request() const;
};

struct event {
  enum class kind { wake, suspect, gone, asked, changed, up, down };
  kind what;
  id who;
  std::string text;
};

class client final : public engine::events {
 public:
  explicit client(std::string prefix, milliseconds request_timeout = 5s);  // returns when it is connected

  engine::engine& raw() { return *engine_; }
  engine::capabilities can() const { return engine_->can(); }
  time_point now() const { return clock_.now(); }

  // A new id of this client for a name.
  want wants(std::string name, mode how = mode::exclusive);
  want waits(std::string name, mode how = mode::exclusive);  // the same, and it would queue
  want permits(std::string name, std::uint32_t take, std::uint32_t capacity);

  // --- calls, waited for ---

  outcome<answer> acquire(const want&);
  engine::granted lock(const want&);          // must be granted
  engine::queued enqueue(const want&);        // must be queued
  engine::busy find_busy(const want&);        // must be busy
  engine::failure find_failure(const want&);  // must fail
  engine::granted wait_turn(const want&);     // as a runtime does: woken, asking again, keeping its place
  engine::granted lock_freed(const want&);    // must be granted soon: what has expired may have yet to be taken away
  time_point poll(const want&);               // tries until it is granted, tells when
  bool could_lock(want);                      // tries with a new id; a grant is given back

  fate keep(const want&, fate as, milliseconds ttl);
  std::vector<fate> keep_all(const std::vector<want>&, fate as, milliseconds ttl);
  fate release(const want&, bool clean = true);
  outcome<answer> convert(const want&, mode to);
  fate lift(const want&, std::uint64_t part);
  std::uint32_t ask(std::string_view name, std::string_view reason);
  fate evict(const want&, std::string_view reason = "test");
  std::vector<engine::entry> list(std::string_view prefix, std::uint32_t limit);
  bool lists();                                                 // false: names are shown one by one only
  std::vector<engine::entry> of_name(const std::string& name);  // listed, or shown where nothing is listed
  std::optional<engine::entry> listed(const want&);

  // Starts a call with `start(reply)`, pumps until it is answered. What it is dated with may be so much earlier.
  template <class T, class F>
  outcome<T> call(F start, time_point::duration earlier = {});

  // --- the loop ---

  void pump_until(const std::function<bool()>& ready, std::string_view what);
  void pump_until(time_point t);
  void round_trip();  // whatever the engine was told before this has arrived

  bool saw(event::kind, const id&) const;
  void await(event::kind, const id&);
  void await_loss(const id&);  // told as a proof or as a hint
  std::size_t count(event::kind) const;
  const std::vector<event>& seen_events() const { return events_; }

 private:
  void wake(const id& i) override { events_.push_back({event::kind::wake, i, {}}); }
  void suspect(const id& i) override { events_.push_back({event::kind::suspect, i, {}}); }
  void gone(const id& i) override { events_.push_back({event::kind::gone, i, {}}); }
  void asked(const id& i, std::string_view r) override { events_.push_back({event::kind::asked, i, std::string{r}}); }
  void changed(std::string_view n) override { events_.push_back({event::kind::changed, {}, std::string{n}}); }
  void up(const engine::server_facts& f) override { events_.push_back({event::kind::up, {}, f.id}); }
  void down(const engine::failure& f) override { events_.push_back({event::kind::down, {}, f.words}); }

  core::boot_clock clock_;
  core::random_ids ids_;
  std::vector<event> events_;
  std::unique_ptr<engine::engine> engine_;
};

// How long a hold that nobody keeps may be in the way, from its grant: an engine counts what it gave, or what it was asked.
inline milliseconds lasts(const want& w, const engine::granted& g) { return std::max(w.ttl, g.ttl); }

std::string describe(const outcome<answer>&);
std::string describe(const engine::failure&);

template <class T>
T value_of(outcome<T> o) {
  if (auto* f = std::get_if<engine::failure>(&o.result)) throw surprise("failed: " + describe(*f));
  return std::get<T>(std::move(o.result));
}

template <class T>
const T* alternative(const outcome<answer>& o) {
  const auto* a = std::get_if<answer>(&o.result);
  return a != nullptr ? std::get_if<T>(a) : nullptr;
}
inline const engine::granted* granted_in(const outcome<answer>& o) { return alternative<engine::granted>(o); }
inline const engine::queued* queued_in(const outcome<answer>& o) { return alternative<engine::queued>(o); }
inline const engine::busy* busy_in(const outcome<answer>& o) { return alternative<engine::busy>(o); }

template <class T>
bool is_unsupported(const outcome<T>& o) {
  const auto* f = std::get_if<engine::failure>(&o.result);
  return f != nullptr && f->kind == why::unsupported;
}

// Three clients under a prefix that no other test has, so tests neither meet each other nor what an earlier run left.
class engine_contract : public ::testing::Test {
 protected:
  engine::capabilities can() const { return a.can(); }

  // A time that a test can afford to let pass, and still enough for a few requests on a machine that is busy.
  milliseconds brief() const { return std::max<milliseconds>(500ms, can().ttl_min); }
  // For what is to be kept in time: a machine that stands still for a second is no reason to lose it.
  milliseconds steady() const { return std::max<milliseconds>(2s, can().ttl_min); }

  // How long a hold is in the way of others at most if its client has died, from its grant. Most engines end it after its ttl. On
  // ZooKeeper it lives by a session, which is 2.25 times as long, two seconds at least, and ends with a tick of the server; a
  // tick is at most half a session (ADR 0016). A client that lives takes away what is over by itself: see lasts().
  static milliseconds outlives_its_client(const want&, const engine::granted&);

  // Of a place whose client dies, before it is asked for: as short as a test can afford. It ends a waiter's lease after its client; in
  // a line of another library with the session of its hold, since nodes cannot be moved there (docs/engines/curator.md).
  void be_mortal(want& place) const;

  // A keep of what is being watched may rest on what the client has heard (etcd): an eviction by another client, or a lock
  // handed over by one, reaches it a little later. Any other engine asks its server.
  static bool goes_by_what_it_heard();

  // A new client with the same prefix: more of them than three, or one that is to die.
  std::unique_ptr<client> another() const { return std::make_unique<client>(prefix); }

  const std::string prefix = fresh_prefix();
  client a{prefix}, b{prefix}, c{prefix};

 private:
  static std::string fresh_prefix();
};

template <class T, class F>
outcome<T> client::call(F start, time_point::duration earlier) {
  // Shared with the reply, which would outlive this frame if the engine never answered.
  auto box = std::make_shared<std::optional<outcome<T>>>();
  const auto made = now();
  start(engine::reply<T>{[box](outcome<T>&& o) {
    if (box->has_value()) throw surprise("a second reply to one call");
    *box = std::move(o);
  }});
  if (box->has_value()) throw surprise("an inline reply");
  pump_until([&] { return box->has_value(); }, "a reply");
  if ((*box)->sent < made - earlier || (*box)->sent > now())
    throw surprise("`sent` is not between the call and the reply");
  return std::move(**box);
}

}  // namespace tyer::contract
