// The turns of a worker with everything but a mutex.
#include "worker/worker.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace fault {

namespace {

using std::chrono::milliseconds;

// What no history could tell: the library contradicts itself. The run counts it as a crash.
[[noreturn]] void impossible(const char* what) {
  std::fprintf(stderr, "fault_worker: %s\n", what);
  std::_Exit(4);
}

}  // namespace

void worker::by_shared(std::uint16_t name) {
  const tyer::shared_mutex& lock = process_.all.shared.at(name);
  const bool reads = between(1, 100) <= 90;
  journal_.attempt({.name = name, .how = reads ? mode::shared : mode::exclusive});
  tyer::hold h = reads ? ask(lock.shared()) : ask(lock);
  if (!h) return;
  {
    std::optional<witness> w;
    w.emplace(journal_, h, next_hold());
    use(*w);
    if (reads && one_in(10)) {
      upgrade(lock, h, w);
    } else if (!reads && one_in(4)) {
      downgrade(lock, h, w);
    }
    w->releasing();
  }
  give_back(std::move(h));
}

void worker::upgrade(const tyer::shared_mutex& lock, tyer::hold& h, std::optional<witness>& w) {
  journal_.attempt({.name = w->name(), .how = mode::exclusive, .flags = is_conversion, .converts = w->number()});
  const auto dice = between(1, 3);
  tyer::failure why;
  const bool done = dice == 1   ? lock.upgrade(why, h, perhaps_cancelled())
                    : dice == 2 ? lock.try_upgrade_for(why, h, milliseconds{between(10, 800)}, perhaps_cancelled())
                                : lock.try_upgrade(why, h);
  if (!done) return journal_.missed(why);  // a reader as before, or lost
  if (h.mode() == tyer::lock_mode::shared) impossible("a hold that was upgraded says that it is shared");
  w.emplace(journal_, h, next_hold());
  use(*w);
}

void worker::downgrade(const tyer::shared_mutex& lock, tyer::hold& h, std::optional<witness>& w) {
  journal_.attempt({.name = w->name(), .how = mode::shared, .flags = is_conversion, .converts = w->number()});
  tyer::failure why;
  lock.downgrade(why, h);
  if (why) return journal_.missed(why);
  if (h.mode() != tyer::lock_mode::shared) impossible("a hold that was downgraded says that it is not shared");
  w.emplace(journal_, h, next_hold());
  use(*w);
}

void worker::by_semaphore(std::uint16_t name) {
  const tyer::semaphore& lock = process_.all.semaphores.at(name);
  const std::uint8_t take = one_in(4) ? 2 : 1;
  journal_.attempt({.name = name, .how = mode::permit, .permits = take, .capacity = semaphore_permits});
  if (tyer::hold h = take == 1 ? ask(lock) : ask(lock.permits(take))) own(std::move(h));
}

tyer::multi_hold worker::ask(const tyer::multi_mutex& lock, tyer::failure& why) {
  const auto dice = between(1, 8);
  if (dice <= 4) return lock.acquire(why, perhaps_cancelled());
  if (dice <= 7) return lock.try_acquire_for(why, milliseconds{between(20, 1500)}, perhaps_cancelled());
  return lock.try_acquire(why);
}

void worker::by_several(const part& names) {
  std::vector<std::uint16_t> chosen{name_in(names)};
  while (chosen.size() < several_at_once) {
    const auto one = name_in(names);
    if (std::find(chosen.begin(), chosen.end(), one) == chosen.end()) chosen.push_back(one);
  }
  std::vector<std::string> texts;
  std::array<journal*, several_at_once> journals{&journal_};
  for (std::size_t i = 1; i < several_at_once; ++i) journals[i] = &more_journals_[i - 1];
  for (std::size_t i = 0; i < several_at_once; ++i) {
    texts.push_back(name_of(chosen[i]));
    journals[i]->attempt({.name = chosen[i], .flags = is_one_of_many});
  }

  const tyer::multi_mutex lock{process_.client, texts, process_.options()};
  tyer::failure why;
  tyer::multi_hold h = ask(lock, why);
  if (!h) {
    for (journal* j : journals) j->missed(why);
    return;
  }
  {
    std::array<std::optional<witness>, several_at_once> made;
    std::array<witness*, several_at_once> all{};
    if (h.parts().size() != several_at_once) impossible("a multi_hold with another number of parts");
    for (std::size_t i = 0; i < several_at_once; ++i) {
      const auto own =
          std::find_if(h.parts().begin(), h.parts().end(), [&](const auto& p) { return p.name() == texts[i]; });
      if (own == h.parts().end()) impossible("a multi_hold without one of its names");
      all[i] = &made[i].emplace(*journals[i], *own, next_hold());
    }
    use(all);
    for (witness* w : all) w->releasing();
  }
  if (one_in(2)) return;  // the destructor releases in the background
  try {
    h.release();
  } catch (const tyer::error&) {
    // No answer; the engine's own expiry does the rest.
  }
}

void worker::by_recursive(std::uint16_t name) {
  tyer::recursive_mutex& lock = process_.all.recursive.at(name);
  journal_.attempt({.name = name});
  try {
    if (one_in(2)) {
      lock.lock();
    } else if (!lock.try_lock_for(milliseconds{between(20, 1500)})) {
      return journal_.missed(miss::empty);
    }
  } catch (const tyer::error& e) {
    return journal_.missed(tyer::failure{e.code(), e.words()});
  }
  {
    witness w{journal_, lock.held(), next_hold()};
    use(w);
    if (one_in(2)) enter_again(lock, w);
    w.releasing();
  }
  lock.unlock();
}

void worker::enter_again(tyer::recursive_mutex& lock, witness& w) {
  const auto began = now_ns();
  try {
    lock.lock();
  } catch (const tyer::error& e) {
    if (e.code() != tyer::errc::lost || w.look()) impossible("no second entry, though the hold is valid");
    return;
  }
  w.came_in_again(began);
  if (lock.depth() != 2) impossible("entered twice, and the depth is not 2");
  use(w);
  lock.unlock();
  if (lock.depth() != 1) impossible("left once, and the depth is not 1");
}

}  // namespace fault
