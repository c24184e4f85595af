// For your own tests of code that uses Tyer: no server, no sleeping, and every fault on demand.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/clock.hpp>
#include <tyer/detail/to_wait.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace testing {

// An engine in this process. Its time stands still until you move it, or until all threads wait for it.
//
//   tyer::testing::engine engine;
//   tyer::client client = engine.connect();
//   tyer::mutex m{client, "order/42", {.ttl = 10s}};
//   tyer::hold h = m.acquire();
//   engine.advance(1h);          // renewals happen on the way: the hold lives
//   mutex theirs{other, "order/42"};
//   theirs.try_acquire_for(5s);  // empty, without a real second: five of the engine's have passed
//   h.remaining();               // what to look at: on this clock, so it can be compared exactly
//   engine.pause();              // the engine stops answering
//   engine.advance(10s);         // h.valid() is false now, h.lost() was requested
//
// While every thread that calls the engine or its clients sleeps in a blocking call, time moves by itself to the next thing
// that is due. As long as one of them is awake it stands still. A thread that sleeps elsewhere (in join(), say) counts as
// waiting too, but only after 200 real milliseconds. For asynchronous calls move time yourself. A thread counts from its
// first call of the engine or of a client: a thread that only received a hold should call now() first.
//
// Clients may outlive the engine; time then goes on moving by itself when all of them wait.
//
// Thread safety: everything may be called from any thread but Tyer's own: in a callback all but now() throws
//   errc::would_deadlock. In a forked child it throws errc::forked.
class TYER_EXPORT engine {
 public:
  engine();
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // A client of this store. Clients exclude each other as if they were on different machines.
  client connect(client_options options = {});

  lease_clock::time_point now() const noexcept;

  // Moves time, in steps small enough that everything due on the way happens in its order. Returns when all clients have done
  // what was due, and their callbacks have returned: a callback that waits for the thread that moves time waits for ever.
  // advance(0s) moves nothing and waits until all callbacks have run: after client::ask(), say, until revoked() is requested.
  // Everything due on the way is really done: a day of a hold with a ttl of 10 s, renewed 25,000 times, takes some real
  // seconds.
  template <class Rep, class Period>
  void advance(const std::chrono::duration<Rep, Period>& by) {
    move(detail::to_wait(by));
  }

  // Requests are taken but not answered until resume(): a partition, seen from the clients.
  void pause();
  void resume();

  // The next request of a client is carried out, and its answer is lost: after its request_timeout the client gets "outcome
  // unknown". Called twice, the next two.
  void lose_next_reply();

  // Waits until n callers of all clients together wait for the name, in the engine's queue or in that of their client. Time
  // stands still meanwhile. False if there are fewer after ten real seconds.
  [[nodiscard]] bool wait_for_waiters(std::string_view name, std::size_t n);

  // Breaks exactly this hold, as an operator would: the engine forgets it, and its lost() is requested on return. Throws
  // errc::not_held for an empty hold and for one of another engine.
  void lose(const hold& h);

  // Forgets every hold, waiter and token, as a restart without persistence does.
  void lose_everything();

 private:
  void move(std::chrono::nanoseconds by);

  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace testing
}  // namespace v1
}  // namespace tyer
