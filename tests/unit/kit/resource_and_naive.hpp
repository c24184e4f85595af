// The same random operations on a resource and on its judge: the same answers, tokens, slots, holders, queue and wake-ups.
//
// The subject is a resource that is kept, as memory:// does, or a name that lies at a server (stored_name.hpp).
#pragma once

#include "unit/kit/naive_resource.hpp"
#include "unit/kit/stored_name.hpp"

#include <array>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tyer::kit {

using namespace std::chrono_literals;
using verdict = naive_resource::verdict;

inline std::set<std::uint32_t> set_of(const std::vector<std::uint32_t>& v) { return {v.begin(), v.end()}; }

inline verdict verdict_of(const result<answer>& r) {
  const auto* a = std::get_if<answer>(&r);
  if (a == nullptr) return {verdict::refused};
  if (const auto* g = std::get_if<engine::granted>(a)) return {verdict::granted, g->part, set_of(g->slots)};
  if (const auto* q = std::get_if<engine::queued>(a)) return {verdict::queued, q->ahead};
  return {verdict::busy};
}

template <class Subject>
struct both {
  Subject subject;
  naive_resource judge;
  std::mt19937 dice;
  store_time now{1000s};
  std::array<id, 7> people;
  std::array<mode, 3> modes;
  std::ostringstream story;
  std::map<std::uint64_t, std::uint64_t> parts;  // the judge's, and the subject's
  std::string differs;
  bool head_only =
      false;  // of the queue is read: whoever has expired further back may still be there, and counts as ahead
  bool same_tokens = true;  // not only in the same order

  explicit both(std::uint32_t seed, Subject s = Subject{}) : subject(std::move(s)), dice(seed) {
    const std::array mixes{std::array{mode::exclusive, mode::shared, mode::permit},
                           std::array{mode::exclusive, mode::shared, mode::shared},
                           std::array{mode::shared, mode::shared, mode::shared},
                           std::array{mode::permit, mode::permit, mode::exclusive}};
    modes = mixes[seed % mixes.size()];
    for (std::size_t i = 0; i < people.size(); ++i) people[i].bytes[0] = static_cast<std::byte>('a' + i);
  }
  int upto(int n) { return static_cast<int>(dice() % static_cast<std::uint32_t>(n)); }
  milliseconds some_time() { return milliseconds{std::array{5, 40, 300, 2000}[static_cast<std::size_t>(upto(4))]}; }

  id somebody_who_holds(const id& otherwise) {
    const auto all = subject.holds();
    return all.empty() ? otherwise : all[static_cast<std::size_t>(upto(static_cast<int>(all.size())))].who;
  }

  // Who is there, as what and until when; not with which part.
  static std::string line_of(const id& who, mode how, const char* is, bool upgrading,
                             const std::set<std::uint32_t>& slots, std::chrono::nanoseconds left) {
    std::ostringstream s;
    s << static_cast<char>(who.bytes[0]) << int(how) << is << upgrading;
    for (const auto slot : slots) s << '#' << slot;
    s << ' ' << left.count() << '\n';
    return s.str();
  }
  std::string state_of_subject() const {
    std::multiset<std::string> lines;
    std::string all;
    for (const seat& h : subject.holds()) {
      const auto* is = h.ghost() ? "g" : h.claimed() ? "h" : "o";
      lines.insert(line_of(h.who, h.how, is, h.upgrading, set_of(h.slots), h.expires - now));
    }
    for (const auto& l : lines) all += l;
    for (const seat& w : subject.queue()) {
      if (!head_only || w.expires > now) all += line_of(w.who, w.how, "w", false, {}, w.expires - now);
    }
    return all;
  }
  std::string state_of_judge() const {
    using state = naive_resource::state;
    std::multiset<std::string> lines;
    std::string all, queue;
    for (const auto& p : judge.all) {
      const auto* is = p.is == state::ghost ? "g" : p.is == state::holding ? "h" : p.is == state::waiting ? "w" : "o";
      const auto line = line_of(p.who, p.how, is, p.upgrading, p.slots, p.until - now);
      if (p.is == state::waiting) queue += line;
      if (p.is != state::waiting) lines.insert(line);
    }
    for (const auto& l : lines) all += l;
    return all + queue;
  }

  // Each part stands for one of the judge's, in the same order.
  bool same_parts() {
    for (const seat& h : subject.holds()) {
      const auto p = std::ranges::find_if(judge.all, [&](const auto& x) {
        const bool ghost = x.is == naive_resource::state::ghost;
        return x.who == h.who && x.is != naive_resource::state::waiting && ghost == h.ghost();
      });
      if (p == judge.all.end()) return false;
      const auto [at, is_new] = parts.emplace(p->part, h.part);
      if (at->second != h.part || (same_tokens && h.part != p->part)) return false;
      if (at != parts.begin() && std::prev(at)->second >= h.part) return false;
      if (std::next(at) != parts.end() && std::next(at)->second <= h.part) return false;
    }
    return true;
  }
  verdict without_part(verdict v) const {
    if (v.what == verdict::granted && !same_tokens) v.number = 0;
    if (v.what == verdict::queued && head_only) v.number = 0;
    return v;
  }

  std::string report() const {
    return story.str() + "differs: " + differs + "\nsubject:\n" + state_of_subject() + "\njudge:\n" + state_of_judge();
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
    switch (upto(13)) {
      case 0: {
        const bool clean = upto(2) == 0;
        compare("release", subject.release(who, clean, now, out), judge.release(who, clean, now));
        break;
      }
      case 1:
      case 2: compare("release", subject.release(who, true, now, out), judge.release(who, true, now)); break;
      case 3: compare("evict", subject.evict(who, "", now, out), judge.evict(who, now)); break;
      case 4:
      case 9: {
        const auto to = upto(2) == 0 ? mode::shared : mode::exclusive;
        const id whom = somebody_who_holds(who);
        const auto said = verdict_of(subject.convert(whom, to, now, out));
        compare("convert", without_part(said), without_part(judge.convert(whom, to, now)));
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
        const auto part = judge.last_part() + static_cast<std::uint64_t>(upto(3)) - 1;
        if constexpr (requires { subject.lift(who, part, now, out); }) {
          parts.clear();  // a part has another name from now on
          compare("lift", subject.lift(who, part, now, out), judge.lift(who, part, now));
          break;
        }
        return true;
      }
      case 8: compare("ask", std::size_t{subject.ask("", now, out)}, judge.ask(now)); break;
      default: {
        request r{.what = {who, "n", modes[static_cast<std::size_t>(upto(3))]}};
        r.take = static_cast<std::uint32_t>(upto(8) == 0 ? upto(5) : 1 + upto(2));
        r.capacity = upto(10) == 0 ? 4 : 3;
        if (r.what.how != mode::permit) r.take = r.capacity = 1;
        r.ttl = some_time();
        r.waiter_ttl = some_time();
        r.lock_delay = upto(3) == 0 ? some_time() : 0ms;
        r.enqueue = upto(3) != 0;
        if (head_only && judge.waits(who)) r.enqueue = true;  // as it did: a try may not find its place
        const bool has_seen_more = upto(10) == 0;
        r.seen = has_seen_more ? subject.last_part() + 5 : 0;
        const auto said = verdict_of(subject.acquire(r, now, out));
        r.seen = has_seen_more ? judge.last_part() + 5 : 0;
        compare("acquire", without_part(said), without_part(judge.acquire(r, now)));
      }
    }
    std::vector<id> woken;
    for (const auto& n : out) {
      if (n.what == notice::kind::wake) woken.push_back(n.who);
    }
    differs = !same                                    ? "the answer"
              : woken != judge.woken                   ? "who is woken"
              : state_of_subject() != state_of_judge() ? "who is there"
              : !same_parts()                          ? "the tokens"
                                                       : "";
    return differs.empty();
  }
};

}  // namespace tyer::kit
