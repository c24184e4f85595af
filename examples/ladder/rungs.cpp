// The rungs on Redis: each lock as it is written in many places, and how it sells a ticket. GETDEL stands where others have DEL: it
// does the same, and says whose lock it was, so that mistakes can be counted.
#include "rungs.hpp"

#include <tyer/tyer.hpp>

#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace ladder {

namespace {

constexpr auto pause = 10ms;  // between two attempts
const std::string seconds = std::to_string(ttl.count());

void wait() { std::this_thread::sleep_for(pause); }

// DEL, and a look at whose it was.
void unlock(workplace& w) {
  const auto whose = w.locks.ask({"GETDEL", w.key});
  if (!whose.nil && !whose.text.ends_with(w.me)) w.tickets.count("deleted");
}

}  // namespace

// [none]
bool none(workplace& w) { return w.tickets.sell(); }
// [none]

// [local]
bool local(workplace& w) {
  static std::mutex mutex;  // of this process; the others have their own
  std::lock_guard lock{mutex};
  return w.tickets.sell();
}
// [local]

// [setnx]
bool setnx(workplace& w) {
  while (w.locks.ask({"SETNX", w.key, w.me}).number == 0) wait();
  const bool sold = w.tickets.sell();  // killed here: the lock stays
  unlock(w);
  return sold;
}
// [setnx]

// [in_finally]
bool in_finally(workplace& w) {
  bool more = true;
  if (w.locks.ask({"SETNX", w.key, w.me}).number == 1) {
    more = w.tickets.sell();
  } else {
    wait();  // "busy, try again"
  }
  unlock(w);  // finally: also of who did not get it
  return more;
}
// [in_finally]

// [setnx_expire]
bool setnx_expire(workplace& w) {
  while (w.locks.ask({"SETNX", w.key, w.me}).number == 0) wait();
  at("between");  // killed here: the lock stays
  w.locks.ask({"EXPIRE", w.key, seconds});
  const bool sold = w.tickets.sell();
  unlock(w);
  return sold;
}
// [setnx_expire]

// [expire_by_all]
bool expire_by_all(workplace& w) {
  for (bool mine = false; !mine; wait()) {
    mine = w.locks.ask({"SETNX", w.key, w.me}).number == 1;
    w.locks.ask({"EXPIRE", w.key, seconds});  // also by those who wait: they keep a dead one's lock
  }
  const bool sold = w.tickets.sell();
  unlock(w);
  return sold;
}
// [expire_by_all]

// [getset]
bool getset(workplace& w) {
  for (;; wait()) {  // the value is when the lock ends, by the clock of who has taken it
    const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    const auto ends = std::to_string(now + ttl / 1ms) + " " + w.me;
    if (w.locks.ask({"SETNX", w.key, ends}).number == 1) break;
    const auto seen = w.locks.ask({"GET", w.key});
    if (seen.nil || std::stoll(seen.text) > now) continue;
    if (w.locks.ask({"GETSET", w.key, ends}).text == seen.text) break;  // it was over, and I was the first to see it
  }
  const bool sold = w.tickets.sell();
  unlock(w);
  return sold;
}
// [getset]

// [set_xx]
bool set_xx(workplace& w) {
  while (w.locks.ask({"SET", w.key, w.me, "XX", "EX", seconds}).nil) wait();  // only if it is there: it never is
  const bool sold = w.tickets.sell();
  unlock(w);
  return sold;
}
// [set_xx]

// [set_nx_ex]
bool set_nx_ex(workplace& w) {
  while (w.locks.ask({"SET", w.key, w.me, "NX", "EX", seconds}).nil) wait();
  const bool sold = w.tickets.sell();  // longer than the expiry: another one has the lock now ...
  unlock(w);                           // ... and this deletes it
  return sold;
}
// [set_nx_ex]

// [thread_id]
bool thread_id(workplace& w) {
  const std::string me = "thread 1 ";  // every process has one; behind it stands whose it is, for the count
  while (w.locks.ask({"SET", w.key, me + w.me, "NX", "EX", seconds}).nil) wait();
  const bool sold = w.tickets.sell();
  if (w.locks.ask({"GET", w.key}).text.starts_with(me)) unlock(w);  // that of another process, it may be
  return sold;
}
// [thread_id]

// [owner]
bool owner(workplace& w) {
  while (w.locks.ask({"SET", w.key, w.me, "NX", "EX", seconds}).nil) wait();
  const bool sold = w.tickets.sell();
  if (w.locks.ask({"GET", w.key}).text == w.me) {  // mine ...
    at("checked");                                 // ... until here
    unlock(w);
  }
  return sold;
}
// [owner]

// [script]
bool script(workplace& w) {
  while (w.locks.ask({"SET", w.key, w.me, "NX", "EX", seconds}).nil) wait();
  const bool sold = w.tickets.sell();  // longer than the expiry: two are in here
  w.locks.ask({"EVAL", unlock_script, "1", w.key, w.me});
  return sold;
}
// [script]

// [renewal]
bool renewal(workplace& w) {
  while (w.locks.ask({"SET", w.key, w.me, "NX", "EX", seconds}).nil) wait();
  std::jthread watchdog{[&](std::stop_token done) {  // every third of the expiry, as long as the lock is there
    try {
      for (int i = 1; !done.stop_requested(); ++i, std::this_thread::sleep_for(10ms)) {
        if (i % 100 == 0) w.locks.ask({"EXPIRE", w.key, seconds, "XX"});
      }
    } catch (const std::exception&) {  // the server is away
    }
  }};
  const bool sold = w.tickets.sell();  // paused, watchdog and all; or the lock was not on the replica
  w.locks.ask({"EVAL", unlock_script, "1", w.key, w.me});
  return sold;
}
// [renewal]

// [unfenced]
bool unfenced(workplace& w) {
  tyer::hold h = w.mutex->acquire();
  return w.tickets.sell();  // paused in there: the lock is another's by now, and the shop does not ask
}
// [unfenced]

// [tyer]
bool with_tyer(workplace& w) {
  tyer::hold h = w.mutex->acquire();
  at("between");
  const bool sold = w.tickets.sell(h.fence());
  at("checked");
  const bool was_mine = h.valid();
  if (h.release() == tyer::release_outcome::already_gone && was_mine) w.tickets.count("deleted");
  return sold;
}
// [tyer]

}  // namespace ladder
