// Those that only hold, and those that only wait for what these have.
#include "worker/worker.hpp"

#include <cstdio>
#include <thread>

namespace fault {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kept_look_every{100};
// A hold that is lost stays in nobody's way for long: well below what `stuck` allows.
constexpr milliseconds lock_delay{200};

}  // namespace

// In the way that the name is for. False: the engine cannot do that.
template <class Use>
bool worker::with_kept(std::uint16_t name, bool holds, const Use& use) {
  const auto text = name_of(name);
  const auto& client = process_.client;
  auto options = process_.options();
  try {
    switch (kept_way_of(name)) {
      case kept_way::exclusive: use(tyer::mutex{client, text, options}, wanted{.name = name}); break;
      case kept_way::delayed:
        options.lock_delay = lock_delay;
        use(tyer::mutex{client, text, options}, wanted{.name = name});
        break;
      case kept_way::shared: {
        const tyer::shared_mutex lock{client, text, options};
        if (holds) {
          use(lock.shared(), wanted{.name = name, .how = mode::shared});
        } else {
          use(lock, wanted{.name = name});
        }
        break;
      }
      case kept_way::permits: {
        const tyer::semaphore lock{client, text, semaphore_permits, options};
        use(lock.permits(2), wanted{.name = name, .how = mode::permit, .permits = 2, .capacity = semaphore_permits});
        break;
      }
    }
  } catch (const tyer::error& e) {
    if (e.code() != tyer::errc::unsupported) throw;
    return false;
  }
  return true;
}

void worker::only_hold(std::uint16_t name) {
  with_kept(name, true, [&](const tyer::acquirable& lock, const wanted& what) {
    while (!process_.draining) {
      if (tyer::hold h = wait_for(lock, what)) keep(std::move(h));
      std::this_thread::sleep_for(milliseconds{between(10, 100)});
    }
  });
}

void worker::only_wait(std::uint16_t name) {
  const auto queue_up = [&](const tyer::acquirable& lock, const wanted& what) {
    while (!process_.draining) {
      if (tyer::hold h = is_queued_for(name) ? wait_for(lock, what) : try_for(lock, what)) own(std::move(h));
      std::this_thread::sleep_for(milliseconds{between(10, 100)});
    }
  };
  if (is_kept(name)) {
    with_kept(name, false, queue_up);
  } else {
    queue_up(process_.all.mutexes.at(name), {.name = name});
  }
}

tyer::hold worker::wait_for(const tyer::acquirable& lock, const wanted& what) {
  journal_.attempt(what);
  tyer::failure why;
  tyer::hold h = lock.acquire(why);
  if (!h) journal_.missed(why);
  return h;
}

tyer::hold worker::try_for(const tyer::acquirable& lock, const wanted& what) {
  journal_.attempt(what);
  tyer::failure why;
  tyer::hold h = lock.try_acquire(why);
  if (!h) journal_.missed(why);
  return h;
}

// Nothing is asked of the library but how the hold does, so that only its renewals keep it.
void worker::keep(tyer::hold h) {
  {
    witness w{journal_, h, next_hold()};
    offer_write(w);
    while (w.look() && !process_.draining) std::this_thread::sleep_for(kept_look_every);
    w.releasing();
  }
  give_back(std::move(h));
}

}  // namespace fault
