// The seam: what the runtime asks of any engine, and what any engine tells the runtime.
//
// One model for every primitive: a *resource* has a name, a capacity, a set of holds and a first-come-first-served queue
// of waiters. exclusive takes all, shared takes one beside other shared, permit takes k of N.
//
// One thread at a time: the thread that calls run() also makes every call into the engine and gets every reply and event; only
// wake() may be called from other threads. It is not always the same thread: callers drive the client too. The only exception
// that may leave an engine is std::bad_alloc. A reply comes exactly once for each call, never inline, and within
// `environment::request_timeout` (then as why::unknown). Replies to different calls may come in any order, but requests for
// one name are sent in the order they were made; a release, or an acquire after wake(), may go before those of other ids.
//
// A push is only a hint: wake, suspect, asked and changed make the runtime *send* something whose answer it can date.
// Only gone is proof.
#pragma once

#include "core/function.hpp"
#include "core/hold_key.hpp"
#include "core/id.hpp"
#include "core/verdict.hpp"

#include <tyer/clock.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::engine {

using core::fate;
using core::id;  // attempt = ticket = hold: fixed before the first request is sent
using core::why;
using std::chrono::milliseconds;
using time_point = lease_clock::time_point;

enum class mode : std::uint8_t { exclusive, shared, permit };

// Names one hold or waiter. Views are valid during the call only.
struct target {
  id who;
  std::string_view name;
  mode how = mode::exclusive;
};

struct request {
  target what;
  std::uint32_t take = 1, capacity = 1;  // permits
  milliseconds ttl{};                    // of the hold
  milliseconds waiter_ttl{};             // of a place in the queue, and of a hand-over until it is claimed
  milliseconds lock_delay{};             // after an unclean loss: see release
  milliseconds not_after{};  // what is not executed within this time after the call may not be executed at all
  bool enqueue = false;      // an engine without a queue answers busy, and wakes by push if it can
  std::uint64_t seen = 0;    // largest token part the client knows for this name
  std::string_view owner;    // host, pid, label, call site: for people
};

struct granted {
  std::uint64_t part = 0;                 // engine's part of the token
  milliseconds ttl{};                     // what the engine really gave
  std::vector<std::uint32_t> slots = {};  // of permits: which of 0 … capacity-1
  core::hold_key key = {};                // where a transaction of the user's own could check it
};
struct queued {
  std::uint32_t ahead = 0;    // at most: some of them may have died
  milliseconds look_again{};  // ask again after this time, even without a wake(); keep() renews the place meanwhile
};
struct busy {
  milliseconds hint{};
};
using answer = std::variant<granted, queued, busy>;

// What keep() has proven: the fate of each target, in their order, and the new ttl of those that were extended, counted
// from `outcome::sent`. Never more than was asked for; less if a server's session ends sooner.
struct kept {
  std::vector<fate> fates;
  milliseconds ttl{};
};

struct failure {
  why kind = why::unknown;
  std::error_code code;
  std::string words;
};

// The result of a call. `sent` is the time from which its ttl counts: not later than when the request left whose answer is the
// proof, and not before the call. Only for keep() it may be the time of an earlier request that proves the same, at most a sixth
// of the proven ttl before the call.
template <class T>
struct outcome {
  time_point sent;
  std::variant<T, failure> result;
};
template <class T>
using reply = core::function<void(outcome<T>&&)>;

struct capabilities {
  bool queue = false, shared = false, permits = false, push = false, token = false, convert = false;
  bool lock_delay = false;
  bool lift = false;
  bool above_seen = true;  // a part is always above request::seen; else a request with a larger `seen` is refused
  bool watch = false;      // the engine sends changed(); else observers poll
  bool owners = true;      // stores request::owner, and lists it
  bool handoffs = true;    // a hold may go from one caller of a client to the next without a request
  milliseconds ttl_min{1};
  milliseconds ttl_max = std::chrono::hours{24};  // as far as the URI says: grants and renewals may still be shorter
  std::size_t keep_batch = 1;                     // how many ids one keep() may carry
};
struct server_facts {
  std::string id, version;
  std::chrono::microseconds clock{};  // what its clock shows at this moment, since 1970; 0: not known
};
struct entry {  // one hold or waiter, for people
  id who;
  std::string name;
  fate what = fate::holding;
  mode how = mode::exclusive;
  milliseconds left{};
  std::uint64_t part = 0;
  std::string owner;
  std::vector<std::uint32_t> slots = {};
};
struct page {
  std::vector<entry> entries;
  std::string cursor;  // empty: that was all
};
struct finding {
  std::string what, advice;
  int severity = 0;
};
struct done {};

class events {
 public:
  virtual void wake(const id&) = 0;                                     // acquire() again with the same id
  virtual void suspect(const id&) = 0;                                  // keep() now; for a hold, a waiter gets wake()
  virtual void gone(const id&) = 0;                                     // proof
  virtual void asked(const id&, std::string_view reason) = 0;           // cooperative revocation
  virtual void changed(std::string_view name) = 0;                      // for observers
  virtual void queue_changed(std::string_view name) { changed(name); }  // only the waiters changed, not the holders
  virtual void up(const server_facts&) = 0;                             // (re)connected: keep everything at once
  virtual void down(const failure&) = 0;  // once for each outage, and for each new reason; answers no call

 protected:
  ~events() = default;
};

class engine {
 public:
  virtual ~engine() = default;

  // From the URI alone, no I/O, from any thread.
  virtual capabilities can() const noexcept = 0;

  // The group of a name: the server it lives on. Requests to one group are answered independently of other groups, so no
  // call should mix groups or wait for another group's answer. May change at any time.
  virtual std::uint32_t group(std::string_view /*name*/) { return 0; }

  // Connects and stays connected until close(); never fails, but reports down() and up(). Called once, and again if it threw
  // std::bad_alloc.
  virtual void open(events&) = 0;

  // Idempotent by id: also the claim after a hand-over, with the same terms (the lock delay too: an unclaimed hold has none).
  virtual void acquire(const request&, reply<answer>) = 0;
  // Extends holds (as = holding, what the caller was told they are) or places in the queue (as = waiting) to ttl from now,
  // or to less and says so; never shortens, never re-creates. A waiter that was handed the lock meanwhile is answered
  // `holding` and not extended: it must claim. A target whose state is not known is answered `unknown`; several that are
  // refused because of one of them are asked for again, each alone. At most can().keep_batch targets. A waiter does not ask
  // again for a long time: so keeping a place also removes an expired hold, or an expired place at the head of the queue, at
  // its name, and wakes the next waiter.
  virtual void keep(std::span<const target>, fate as, milliseconds ttl, reply<kept>) = 0;
  // Whether a hold stands now: as keep(), but proven by the answer of the server, or of most servers, to a request that
  // left after the call; `sent` is not before the call. An engine whose keep() may answer from an earlier request overrides
  // this.
  virtual void confirm(const target& t, milliseconds ttl, reply<kept> r) {
    keep({&t, 1}, fate::holding, ttl, std::move(r));
  }
  // Also cancels a waiter; answers what the target was. A hold with a lock delay that expires, is evicted or is released
  // *unclean* blocks others for that long: as a ghost, gone for its owner (keep, acquire, list), but still in its place. A
  // clean release of the same id removes the ghost at once: the old holder has said that it has stopped.
  virtual void release(const target&, bool clean, reply<fate>) = 0;
  // Downgrade and upgrade of a hold; idempotent. granted: a new token part, and the hold lives as long as before. queued: the
  // upgrade waits at the head of the queue and the hold stays shared; wake() comes, then convert again. busy: another
  // holder is upgrading. Converting to shared also cancels a waiting upgrade. A hold that is gone: why::refused,
  // errc::lost.
  virtual void convert(const target&, mode to, milliseconds not_after, reply<answer>) = 0;
  // Raises the token part of an exclusive hold, for an engine that is composed of several others. holding: the hold is this
  // id's, and its part was below or, after an earlier call, is already this one; else gone, and nothing is done.
  virtual void lift(const target&, std::uint64_t part, reply<fate>) = 0;
  virtual void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) = 0;
  virtual void evict(const target&, std::string_view reason,
                     reply<fate>) = 0;                        // that hold or waiter alone, never the next
  virtual void show(std::string_view name, reply<page>) = 0;  // who holds it and who waits, the head of the queue first
  // For observers of a name, at each change: as show(), with or without the waiters, and with the same few requests however
  // many there are. So `left` may be only an upper bound.
  virtual void look(std::string_view name, bool /*waiters*/, reply<page> r) { show(name, std::move(r)); }
  // The pages of one listing may show an entry twice or, if it comes or goes meanwhile, not at all.
  virtual void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<page>) = 0;
  virtual void watch(std::string_view name, bool on) = 0;
  virtual void diagnose(reply<std::vector<finding>>) = 0;

  // No more events; every reply that is still due comes before the one of close().
  virtual void close(reply<done>) = 0;

  // The loop. Sends the requests made since the last run, waits for I/O until `until` or wake(), delivers replies and
  // events.
  virtual void run(time_point until) = 0;
  virtual void wake() noexcept = 0;  // from any thread: run() returns soon
};

}  // namespace tyer::engine
