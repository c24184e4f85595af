// First come, first served, as the engine's own words prove it.
//
// A request was executed between the moment it arrived at the proxy and the moment its answer was read there; what
// happened in between, and in which order the engine served two connections, nobody outside it knows. So everything is
// held against the engine only if it is certain:
//
//  - A *stay* is a stretch for which a ticket was in the queue without a gap. It begins when an answer was read that says
//    so, and goes on as long as each next answer (still waiting, or granted) was read before the place could have lapsed,
//    counted from the arrival of the request before it. A possible lapse, a loss of data or a release ends it; whatever
//    the engine says later begins a new one.
//  - B came later than A's stay if its first request arrived after that had begun.
//  - B was served first if A said "still waiting" to a request that arrived after B's grant had been read, or if A's
//    grant, with which its stay ended, has the larger token part: the parts of a name grow in the order of the grants,
//    as long as the engine does not lose what it has counted to. After such a loss a client that has seen a larger part
//    than the one it was handed takes the next one above that when it claims: only what is larger than that counts.
//
// Two readers do not conflict, so their order does not matter. An upgrade is no ticket: it goes before the queue. What a
// process hands from one of its threads to another is no grant of the engine. A try never waits, but its ticket is one.
#include "checker/checks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace fault {

namespace {

struct stay {
  std::uint64_t ticket = 0;
  mode how = mode::exclusive;
  std::int64_t since = 0;
  std::int64_t until = 0;  // a request that arrived then found it waiting
  std::uint64_t part = 0;  // 0, or it ended with this grant
};

struct service {
  std::uint64_t ticket = 0;
  mode how = mode::exclusive;
  std::int64_t came = 0, read = 0;  // first request; answer with the grant
  std::uint64_t part = 0;
};

// How often the engine had lost what it counts parts with, until then.
class ages {
 public:
  ages(const story& s, std::uint16_t name) {
    for (const data_loss& loss : s.losses) {
      if ((loss.how & lost_with_tokens) != 0 && loss.names.has(name)) {
        ends_.push_back(std::max(loss.new_from, loss.old_until));
        losses_.push_back(loss);
      }
    }
    std::sort(ends_.begin(), ends_.end());
  }
  std::ptrdiff_t at(std::int64_t t) const { return std::upper_bound(ends_.begin(), ends_.end(), t) - ends_.begin(); }
  // What was done at some time between these two may have been done before a loss, or after it.
  bool in_doubt(std::int64_t from, std::int64_t to) const {
    return std::any_of(losses_.begin(), losses_.end(), [&](const data_loss& loss) {
      const auto [first, last] = std::minmax(loss.new_from, loss.old_until);
      return first <= to && last >= from;
    });
  }

 private:
  std::vector<std::int64_t> ends_;
  std::vector<data_loss> losses_;
};

// How far parts may be raised by who saw larger ones before a loss, by age.
class floors {
 public:
  floors(const std::vector<service>& services, const ages& all) {
    for (const service& s : services) {
      auto& largest = largest_[all.at(s.came)];
      largest = std::max(largest, s.part);
    }
  }
  std::uint64_t until(std::ptrdiff_t age) const {
    std::uint64_t largest = 0;
    for (const auto& [earlier, part] : largest_) {
      if (earlier < age) largest = std::max(largest, part + 1);
    }
    return largest;
  }

 private:
  std::map<std::ptrdiff_t, std::uint64_t> largest_;
};

struct queue {
  std::vector<stay> stays;
  std::vector<service> services;
};

// One ticket, followed through the words of the engine.
class follower {
 public:
  void hear(const event& e, const std::vector<data_loss>& losses, queue& q) {
    switch (e.what) {
      case op::asked:
        if (!came_) came_ = e.t_ns;
        how_ = e.how;
        return;
      case op::given_up: return end(q);
      case op::answered: return answered(e, losses, q);
      default: return;
    }
  }

  void end(queue& q) {
    if (now_) q.stays.push_back(*now_);
    now_.reset();
  }

 private:
  void answered(const event& e, const std::vector<data_loss>& losses, queue& q) {
    const auto what = static_cast<standing>(e.outcome);
    if (now_ && (what == standing::gone || e.t_ns > good_until_ || lost_since_then(e, losses))) end(q);
    if (what == standing::waiting) {
      if (!now_) now_ = stay{e.hold, how_, e.t_ns, 0, 0};
      now_->until = std::max(now_->until, e.deadline_ns);
      confirmed_ = e.deadline_ns;
      good_until_ = e.deadline_ns + static_cast<std::int64_t>(e.token);
    } else if (what == standing::granted) {
      if (now_) now_->part = e.token;
      end(q);
      if (came_ && !served_) q.services.push_back({e.hold, how_, *came_, e.t_ns, e.token});
      served_ = true;
    }
  }

  bool lost_since_then(const event& e, const std::vector<data_loss>& losses) const {
    return std::any_of(losses.begin(), losses.end(), [&](const data_loss& loss) {
      const auto [first, last] = std::minmax(loss.new_from, loss.old_until);
      return loss.names.has(e.name) && first <= e.t_ns && last >= confirmed_;
    });
  }

  std::optional<std::int64_t> came_;
  mode how_ = mode::exclusive;  // only an acquire says it
  std::optional<stay> now_;
  std::int64_t confirmed_ = 0, good_until_ = 0;
  bool served_ = false;
};

// The stay that tells most against whoever comes after it.
struct worst {
  const stay* longest = nullptr;
  std::map<std::ptrdiff_t, const stay*> last_served;  // by age: parts of different ages cannot be compared

  void add(const stay& s, const ages& all) {
    if (!longest || s.until > longest->until) longest = &s;
    const stay*& last = last_served[all.at(s.since)];
    if (!last || s.part > last->part) last = &s;
  }
  const stay* against(const service& b, const ages& all, const floors& raised) const {
    if (longest && longest->until > b.read) return longest;
    const auto age = all.at(b.came);
    const auto last = last_served.find(age);
    if (last == last_served.end() || all.in_doubt(b.came, b.read)) return nullptr;
    return last->second->part > std::max(b.part, raised.until(age)) ? last->second : nullptr;
  }
};

std::string words(std::uint16_t name, const service& b, const stay& a) {
  const auto letter = [](mode m) {
    return m == mode::exclusive ? "exclusive" : m == mode::shared ? "shared" : "permit";
  };
  const std::string end = a.part != 0 ? "was granted part " + std::to_string(a.part) : "waited at " + seconds(a.until);
  return "name " + std::to_string(name) + ": ticket " + std::to_string(b.ticket) + " (" + letter(b.how) +
         ") that came at " + seconds(b.came) + " was granted part " + std::to_string(b.part) + " by " +
         seconds(b.read) + ", but ticket " + std::to_string(a.ticket) + " (" + letter(a.how) +
         "), in the queue since " + seconds(a.since) + ", " + end;
}

void judge(std::uint16_t name, queue& q, const ages& all, std::vector<breach>& found) {
  std::sort(q.stays.begin(), q.stays.end(), [](const auto& a, const auto& b) { return a.since < b.since; });
  std::sort(q.services.begin(), q.services.end(), [](const auto& a, const auto& b) { return a.came < b.came; });
  const floors raised{q.services, all};
  worst readers, others;
  auto next = q.stays.begin();
  for (const service& b : q.services) {
    for (; next != q.stays.end() && next->since < b.came; ++next) {
      (next->how == mode::shared ? readers : others).add(*next, all);
    }
    const stay* a = others.against(b, all, raised);
    if (!a && b.how != mode::shared) a = readers.against(b, all, raised);
    if (a) found.push_back({b.read, words(name, b, *a)});
  }
}

std::map<std::uint16_t, queue> follow(const story& s) {
  std::map<std::uint16_t, queue> names;
  std::unordered_map<std::uint64_t, std::pair<std::uint16_t, follower>> tickets;
  for (const event& e : s.engine) {
    auto& [name, who] = tickets.try_emplace(e.hold, e.name, follower{}).first->second;
    who.hear(e, s.losses, names[name]);
  }
  for (auto& [number, ticket] : tickets) ticket.second.end(names[ticket.first]);
  return names;
}

}  // namespace

std::size_t places_seen(const story& s) {
  std::size_t count = 0;
  for (const auto& [name, q] : follow(s)) {
    count += static_cast<std::size_t>(
        std::count_if(q.stays.begin(), q.stays.end(), [](const stay& p) { return p.part != 0 || p.until > p.since; }));
  }
  return count;
}

std::vector<breach> order(const story& s) {
  auto names = follow(s);
  std::vector<breach> found;
  for (auto& [name, q] : names) judge(name, q, ages{s, name}, found);
  return found;
}

}  // namespace fault
