#include "worker/worker.hpp"

#include "resource/gate.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>

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

}  // namespace

worker::worker(process& p, std::uint16_t number)
    : process_(p),
      journal_(p.history, number),
      random_(p.chosen.seed * 1000 + number),
      skips_valid_(number % 2 == 1),
      resource_(connect_to(p.chosen.resource)) {}

void worker::run() {
  while (!process_.draining) {
    turn();
    std::this_thread::sleep_for(milliseconds{between(0, 20)});
  }
}

void worker::turn() {
  const bool hot = between(1, 100) <= hot_percent;
  const auto name = static_cast<std::uint16_t>(hot ? 0 : between(1, process_.chosen.names - 1));
  tyer::mutex& lock = *process_.locks[name];
  const auto dice = between(1, 100);
  journal_.attempt(name);
  try {
    if (dice <= 40) return by_acquire(lock);
    if (dice <= 70) return by_try_acquire_for(lock);
    if (dice <= 80) return by_scoped_lock(lock);
    if (dice <= 90) return by_unique_lock(lock);
    return by_try_acquire(lock);
  } catch (const tyer::error& e) {
    journal_.missed(tyer::failure{e.code(), e.words()});  // only the asking throws: see by_...
  }
}

void worker::by_acquire(tyer::mutex& lock) {
  tyer::failure why;
  if (tyer::hold h = lock.acquire(why, perhaps_cancelled())) return own(std::move(h));
  journal_.missed(why);
}

void worker::by_try_acquire_for(tyer::mutex& lock) {
  tyer::failure why;
  const milliseconds at_most{between(20, 1500)};
  if (tyer::hold h = lock.try_acquire_for(why, at_most, perhaps_cancelled())) return own(std::move(h));
  journal_.missed(why);
}

void worker::by_try_acquire(tyer::mutex& lock) {
  if (tyer::hold h = lock.try_acquire()) return own(std::move(h));
  journal_.missed(miss::empty);
}

void worker::by_scoped_lock(tyer::mutex& lock) {
  std::scoped_lock guard{lock};
  witness w{journal_, lock.held(), next_hold()};
  use(w, lock.held().token());
  w.releasing();
}

void worker::by_unique_lock(tyer::mutex& lock) {
  std::unique_lock guard{lock, std::defer_lock};
  if (!guard.try_lock_for(milliseconds{between(20, 1500)})) return journal_.missed(miss::empty);
  witness w{journal_, lock.held(), next_hold()};
  use(w, lock.held().token());
  w.releasing();
}

void worker::own(tyer::hold h) {
  {
    witness w{journal_, h, next_hold()};
    use(w, h.token());
    w.releasing();
  }
  if (one_in(2)) return;  // the destructor releases in the background
  tyer::failure why;
  journal_.released(h.release(why));
}

// The write comes last, so that a pause anywhere in the hold makes it a stale one.
void worker::use(witness& w, std::uint64_t token) {
  const auto end = canceller::clock::now() + hold_length();
  auto next_write = canceller::clock::now() + write_every;
  for (auto now = canceller::clock::now(); now < end; now = canceller::clock::now()) {
    std::this_thread::sleep_for(std::min<nanoseconds>(end - now, look_every));
    const bool valid = w.look();
    if (process_.draining || (!valid && !skips_valid_)) break;
    if (now < next_write) continue;
    offer_write(w, token);
    next_write = now + write_every;
  }
  if (skips_valid_ || w.look()) offer_write(w, token);
}

// Three in a hundred outlive the ttl, so that renewal matters. The hot name is held shorter and seldom for long: else
// everybody would stand there, and nothing would happen elsewhere.
milliseconds worker::hold_length() {
  const bool hot = journal_.name() == 0;
  const auto ttl_ms = process_.chosen.ttl.count();
  if (between(1, 1000) <= (hot ? 3 : 30)) return milliseconds{between(ttl_ms * 12 / 10, ttl_ms * 3)};
  return milliseconds{between(0, hot ? 5 : 20)};
}

void worker::offer_write(const witness& w, std::uint64_t token) {
  const offer o{.token = token, .hold = w.number(), .name = journal_.name()};
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

std::int64_t worker::between(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>{low, high}(random_);
}

}  // namespace fault
