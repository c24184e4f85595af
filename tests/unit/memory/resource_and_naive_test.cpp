// The same random operations on memory::resource and on its judge: the same answers, tokens, slots, holders, queue and wake-ups.
#include "unit/memory/naive_resource.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <sstream>

namespace tyer::memory {
namespace {

using namespace std::chrono_literals;
using verdict = naive_resource::verdict;

std::set<std::uint32_t> set_of(const std::vector<std::uint32_t>& v) { return {v.begin(), v.end()}; }

verdict verdict_of(const result<answer>& r) {
  const auto* a = std::get_if<answer>(&r);
  if (a == nullptr) return {verdict::refused};
  if (const auto* g = std::get_if<engine::granted>(a)) return {verdict::granted, g->part, set_of(g->slots)};
  if (const auto* q = std::get_if<engine::queued>(a)) return {verdict::queued, q->ahead};
  return {verdict::busy};
}

struct both {
  resource subject;
  naive_resource judge;
  std::mt19937 dice;
  time_point now{1000s};
  std::array<id, 7> people;
  std::ostringstream story;

  explicit both(std::uint32_t seed) : dice(seed) {
    for (std::size_t i = 0; i < people.size(); ++i) people[i].bytes[0] = static_cast<std::byte>('a' + i);
  }
  int upto(int n) { return static_cast<int>(dice() % static_cast<std::uint32_t>(n)); }
  milliseconds some_time() { return milliseconds{std::array{5, 40, 300, 2000}[static_cast<std::size_t>(upto(4))]}; }

  static std::string state_of(const resource& r, time_point now) {
    std::multiset<std::string> lines;
    std::ostringstream queue;
    for (const auto& h : r.holds()) {
      std::ostringstream s;
      s << static_cast<char>(h.who.bytes[0]) << int(h.how) << (h.ghost ? "g" : h.claimed ? "h" : "o") << h.upgrading;
      for (const auto slot : set_of(h.slots)) s << '#' << slot;
      s << '@' << h.part << ' ' << (h.expires - now).count();
      lines.insert(s.str());
    }
    for (const auto& w : r.queue())
      queue << static_cast<char>(w.who.bytes[0]) << int(w.how) << ' ' << (w.expires - now).count() << ',';
    std::string all;
    for (const auto& l : lines) all += l + '\n';
    return all + queue.str();
  }
  static std::string state_of(const naive_resource& r, time_point now) {
    using state = naive_resource::state;
    std::multiset<std::string> lines;
    std::ostringstream queue;
    for (const auto& p : r.all) {
      std::ostringstream s;
      s << static_cast<char>(p.who.bytes[0]) << int(p.how);
      if (p.is == state::waiting) {
        queue << s.str() << ' ' << (p.until - now).count() << ',';
        continue;
      }
      s << (p.is == state::ghost ? "g" : p.is == state::holding ? "h" : "o") << p.upgrading;
      for (const auto slot : p.slots) s << '#' << slot;
      s << '@' << p.part << ' ' << (p.until - now).count();
      lines.insert(s.str());
    }
    std::string all;
    for (const auto& l : lines) all += l + '\n';
    return all + queue.str();
  }

  // One operation on both. False: they differ.
  bool operate() {
    now += upto(3) == 0 ? some_time() : 0ms;
    const id who = people[static_cast<std::size_t>(upto(static_cast<int>(people.size())))];
    notices out;
    bool same = true;
    const auto compare = [&](const char* what, const auto& a, const auto& b) {
      story << what << ' ' << static_cast<char>(who.bytes[0]) << '\n';
      same = a == b;
    };
    switch (upto(12)) {
      case 0: {
        const bool clean = upto(2) == 0;
        compare("release", subject.release(who, clean, now, out), judge.release(who, clean, now));
        break;
      }
      case 1:
      case 2: compare("release", subject.release(who, true, now, out), judge.release(who, true, now)); break;
      case 3: compare("evict", subject.evict(who, "", now, out), judge.evict(who, now)); break;
      case 4: {
        const auto to = upto(2) == 0 ? mode::shared : mode::exclusive;
        auto said = verdict_of(subject.convert(who, to, now, out));
        compare("convert", said, judge.convert(who, to, now));
        break;
      }
      case 5:
      case 6: {
        const auto as = upto(2) == 0 ? fate::holding : fate::waiting;
        const auto ttl = some_time();
        compare("keep", subject.keep(who, as, ttl, now, out), judge.keep(who, as, ttl, now));
        break;
      }
      case 7: {
        const auto part = subject.last_part() + static_cast<std::uint64_t>(upto(3)) - 1;
        compare("lift", subject.lift(who, part, now, out), judge.lift(who, part, now));
        break;
      }
      case 8: compare("ask", std::size_t{subject.ask("", now, out)}, judge.ask(now)); break;
      default: {
        request r{.what = {who, "n", std::array{mode::exclusive, mode::shared, mode::permit}[std::size_t(upto(3))]}};
        r.take = static_cast<std::uint32_t>(upto(8) == 0 ? upto(5) : 1 + upto(2));
        r.capacity = upto(10) == 0 ? 4 : 3;
        if (r.what.how != mode::permit) r.take = r.capacity = 1;
        r.ttl = some_time();
        r.waiter_ttl = some_time();
        r.lock_delay = upto(3) == 0 ? some_time() : 0ms;
        r.enqueue = upto(3) != 0;
        r.seen = upto(10) == 0 ? subject.last_part() + 5 : 0;
        compare("acquire", verdict_of(subject.acquire(r, now, out)), judge.acquire(r, now));
      }
    }
    std::vector<id> woken;
    for (const auto& n : out) {
      if (n.what == notice::kind::wake) woken.push_back(n.who);
    }
    return same && woken == judge.woken && state_of(subject, now) == state_of(judge, now);
  }
};

TEST(resource_and_naive, decide_the_same) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    both b{seed};
    for (int n = 0; n < 400; ++n) {
      ASSERT_TRUE(b.operate()) << "seed " << seed << " after\n"
                               << b.story.str() << "\nresource:\n"
                               << both::state_of(b.subject, b.now) << "\njudge:\n"
                               << both::state_of(b.judge, b.now);
    }
  }
}

}  // namespace
}  // namespace tyer::memory
