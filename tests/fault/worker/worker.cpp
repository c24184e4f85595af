#include "worker/worker.hpp"

#include "resource/gate.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <tuple>

namespace fault {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int hot_percent = 30;
constexpr milliseconds look_every{20};
constexpr milliseconds write_every{60};

// Blocking: a worker waits for the verdict of its write.
descriptor connect_to(const std::string& path) {
  descriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::system_error{errno, std::generic_category(), path};
  }
  return socket;
}

template <class Map, class... More>
void make(Map& map, std::uint16_t number, const tyer::client& c, const std::string& name, More... more) {
  map.emplace(std::piecewise_construct, std::forward_as_tuple(number), std::forward_as_tuple(c, name, more...));
}

}  // namespace

locks::locks(const tyer::client& c, const plan& names, const tyer::lock_options& o) {
  for (const part& p : names.parts()) {
    for (std::uint16_t n = p.first; n < p.first + p.count; ++n) {
      switch (p.what) {
        case primitive::mutex: make(mutexes, n, c, name_of(n), o); break;
        case primitive::shared: make(shared, n, c, name_of(n), o); break;
        case primitive::semaphore: make(semaphores, n, c, name_of(n), semaphore_permits, o); break;
        case primitive::recursive: make(recursive, n, c, name_of(n), o); break;
        case primitive::several: break;  // made anew for each turn
      }
    }
  }
}

worker::worker(process& p, std::uint16_t number)
    : process_(p),
      journal_(p.history, number),
      random_(p.chosen.seed * 1000 + number),
      skips_valid_(number % 2 == 1),
      resource_(connect_to(p.chosen.resource)) {
  // A worker does one thing after the other in each of its journals, so every name at once needs its own.
  for (std::uint16_t i = 1; i < several_at_once; ++i) {
    more_journals_.emplace_back(p.history, static_cast<std::uint16_t>(number + 0x100 * i));
  }
}

void worker::run() {
  while (!process_.draining) {
    turn();
    std::this_thread::sleep_for(milliseconds{between(0, 20)});
  }
}

void worker::turn() {
  const part& p = process_.names.part_of(between(0, 99));
  const auto name = name_in(p);
  switch (p.what) {
    case primitive::mutex: return by_mutex(name);
    case primitive::shared: return by_shared(name);
    case primitive::semaphore: return by_semaphore(name);
    case primitive::several: return by_several(p);
    case primitive::recursive: return by_recursive(name);
  }
}

void worker::by_mutex(std::uint16_t name) {
  tyer::mutex& lock = process_.all.mutexes.at(name);
  const auto dice = between(1, 100);
  journal_.attempt({.name = name});
  try {
    if (dice <= 10) return by_scoped_lock(lock);
    if (dice <= 20) return by_unique_lock(lock);
  } catch (const tyer::error& e) {
    return journal_.missed(tyer::failure{e.code(), e.words()});  // only the asking throws
  }
  if (tyer::hold h = ask(lock)) own(std::move(h));
}

void worker::by_scoped_lock(tyer::mutex& lock) {
  std::scoped_lock guard{lock};
  witness w{journal_, lock.held(), next_hold()};
  use(w);
  w.releasing();
}

void worker::by_unique_lock(tyer::mutex& lock) {
  std::unique_lock guard{lock, std::defer_lock};
  if (!guard.try_lock_for(milliseconds{between(20, 1500)})) return journal_.missed(miss::empty);
  witness w{journal_, lock.held(), next_hold()};
  use(w);
  w.releasing();
}

tyer::hold worker::ask(const tyer::acquirable& lock) {
  const auto dice = between(1, 8);
  tyer::failure why;
  tyer::hold h = dice <= 4   ? lock.acquire(why, perhaps_cancelled())
                 : dice <= 7 ? lock.try_acquire_for(why, milliseconds{between(20, 1500)}, perhaps_cancelled())
                             : lock.try_acquire(why);
  if (!h) journal_.missed(why);
  return h;
}

void worker::own(tyer::hold h) {
  {
    witness w{journal_, h, next_hold()};
    use(w);
    w.releasing();
  }
  give_back(std::move(h));
}

void worker::give_back(tyer::hold h) {
  if (one_in(2)) return;  // the destructor releases in the background
  tyer::failure why;
  journal_.released(h.release(why));
}

// The write comes last, so that a pause anywhere in the hold makes it a stale one.
void worker::use(witnesses all) {
  const auto look = [&] {
    bool valid = true;
    for (witness* w : all) valid = w->look() && valid;
    return valid;
  };
  const auto write = [&] {
    for (const witness* w : all) offer_write(*w);
  };
  const auto end = canceller::clock::now() + hold_length(all.front()->name());
  auto next_write = canceller::clock::now() + write_every;
  for (auto now = canceller::clock::now(); now < end; now = canceller::clock::now()) {
    std::this_thread::sleep_for(std::min<nanoseconds>(end - now, look_every));
    const bool valid = look();
    if (process_.draining || (!valid && !skips_valid_)) break;
    if (now < next_write) continue;
    write();
    next_write = now + write_every;
  }
  if (skips_valid_ || look()) write();
}

// Three in a hundred outlive the ttl, so that renewal matters. The hot name is held shorter and seldom for long: else
// everybody would stand there, and nothing would happen elsewhere.
milliseconds worker::hold_length(std::uint16_t name) {
  const bool hot = process_.names.is_hot(name);
  const auto ttl_ms = process_.chosen.ttl.count();
  if (between(1, 1000) <= (hot ? 3 : 30)) return milliseconds{between(ttl_ms * 12 / 10, ttl_ms * 3)};
  return milliseconds{between(0, hot ? 5 : 20)};
}

void worker::offer_write(const witness& w) {
  const offer o{.token = w.token(), .hold = w.number(), .name = w.name(), .how = w.how(), .slots = w.slots()};
  verdict v{};
  const auto retried = [](auto call) {
    ssize_t count;
    do count = call();
    while (count < 0 && errno == EINTR);
    return count;
  };
  if (retried([&] { return ::send(resource_.get(), &o, sizeof o, MSG_NOSIGNAL); }) != sizeof o ||
      retried([&] { return ::recv(resource_.get(), &v, sizeof v, 0); }) != sizeof v) {
    std::fputs("fault_worker: the resource has gone\n", stderr);
    std::_Exit(3);
  }
}

// One in twenty waits is cancelled at some point: before, during or after the answer.
std::stop_token worker::perhaps_cancelled() {
  if (!one_in(20)) return {};
  std::stop_source source;
  auto token = source.get_token();
  process_.cancels.at(canceller::clock::now() + std::chrono::microseconds{between(0, 50'000)}, std::move(source));
  return token;
}

std::uint64_t worker::next_hold() {
  return static_cast<std::uint64_t>(::getpid()) << 32 | process_.serial.fetch_add(1, std::memory_order_relaxed);
}

std::uint16_t worker::name_in(const part& p) {
  const bool hot = between(1, 100) <= hot_percent;
  return static_cast<std::uint16_t>(p.first + (hot ? 0 : between(1, p.count - 1)));
}

std::int64_t worker::between(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>{low, high}(random_);
}

}  // namespace fault
