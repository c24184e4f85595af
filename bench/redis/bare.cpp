#include "redis/bare.hpp"

#include "core/id.hpp"
#include "engines/redis/locks/answers.hpp"
#include "engines/redis/locks/commands.hpp"
#include "engines/redis/scripts/scripts.hpp"

#include <stdexcept>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::string_view compare_and_delete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

// Writes locks and unlocks in one of the dialects.
class speaker {
 public:
  speaker(wire& w, dialect d) : wire_(w), dialect_(d) {
    using namespace tyer::redis;
    del_ = std::string{wire_.call({"SCRIPT", "LOAD", compare_and_delete})};
    wire_.call({"SCRIPT", "LOAD", scripts::acquire.text});
    wire_.call({"SCRIPT", "LOAD", scripts::release.text});
  }

  void lock(const std::string& name, const tyer::core::id& who) {
    if (dialect_ == dialect::set_nx) return wire_.add({"SET", name, who.view(), "NX", "PX", "10000"});
    tyer::engine::request r;
    r.what = {who, name, tyer::engine::mode::exclusive};
    r.ttl = 10s;
    r.waiter_ttl = 3s;
    r.enqueue = true;
    r.owner = "host pid 1 bench cycles.cpp:1";
    script(tyer::redis::scripts::acquire.sha1,
           commands_.acquire(r, std::chrono::microseconds{1'000'000'000'000'000'0}));
  }

  void unlock(const std::string& name, const tyer::core::id& who) {
    if (dialect_ == dialect::set_nx) return wire_.add({"EVALSHA", del_, "1", name, who.view()});
    script(tyer::redis::scripts::release.sha1, commands_.release({who, name, tyer::engine::mode::exclusive}, true));
  }

  // Throws unless the lock was free.
  void check_locked(std::string_view reply) const {
    if (dialect_ == dialect::set_nx) return require(reply == "OK", reply);
    const auto result = tyer::redis::parse_acquire(reply, 10s);
    const auto* answer = std::get_if<tyer::engine::answer>(&result);
    require(answer != nullptr && std::holds_alternative<tyer::engine::granted>(*answer), reply);
  }
  // Throws unless it was ours.
  void check_unlocked(std::string_view reply) const {
    if (dialect_ == dialect::set_nx) return require(reply == "1", reply);
    const auto result = tyer::redis::parse_fate(reply);
    const auto* fate = std::get_if<tyer::engine::fate>(&result);
    require(fate != nullptr && *fate == tyer::engine::fate::holding, reply);
  }

 private:
  static void require(bool fine, std::string_view reply) {
    if (!fine) throw std::runtime_error("unexpected answer: " + std::string{reply});
  }

  void script(std::string_view sha, tyer::redis::commands::words args) {
    words_.assign({"EVALSHA", sha});
    words_.insert(words_.end(), args.begin(), args.end());
    wire_.add(words_);
  }

  wire& wire_;
  dialect dialect_;
  std::string del_;
  tyer::redis::commands commands_{tyer::redis::keys{"bare:"}, 24h, 100000};
  std::vector<std::string_view> words_;
};

std::vector<std::string> names(int n) {
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) all.push_back("bench/" + std::to_string(i));
  return all;
}

}  // namespace

double bare_pipelined(const std::string& uri, dialect d, int deep, milliseconds run) {
  wire w{uri};
  speaker say{w, d};
  tyer::core::random_ids ids;
  const auto name = names(deep);
  std::vector<tyer::core::id> who(static_cast<std::size_t>(deep));
  std::vector<bool> held(static_cast<std::size_t>(deep));
  const auto start = [&](std::size_t i) {
    who[i] = ids.next();
    say.lock(name[i], who[i]);
  };
  for (std::size_t i = 0; i < who.size(); ++i) start(i);
  w.flush();
  const auto begin = clock::now();
  std::uint64_t cycles = 0;
  for (std::size_t next = 0, unsent = 0;; next = (next + 1) % who.size()) {
    const auto reply = w.reply();
    if (held[next]) {
      say.check_unlocked(reply);
      ++cycles;
      start(next);
    } else {
      say.check_locked(reply);
      say.unlock(name[next], who[next]);
    }
    held[next] = !held[next];
    if (++unsent == 16) {
      w.flush();
      unsent = 0;
      if (clock::now() - begin >= run) break;
    }
  }
  const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
  w.flush();
  for (std::size_t i = 0; i < who.size(); ++i) say.unlock(name[i], who[i]);  // leave nothing held
  w.flush();
  for (std::size_t i = 0; i < 2 * who.size(); ++i) w.reply();
  return static_cast<double>(cycles) / seconds;
}

std::vector<double> bare_sequential(const std::string& uri, dialect d, milliseconds run) {
  wire w{uri};
  speaker say{w, d};
  tyer::core::random_ids ids;
  std::vector<double> usec;
  const std::string name = "bench/sequential";
  for (const auto begin = clock::now(); clock::now() - begin < run;) {
    const auto who = ids.next();
    const auto t = clock::now();
    say.lock(name, who);
    w.flush();
    say.check_locked(w.reply());
    say.unlock(name, who);
    w.flush();
    say.check_unlocked(w.reply());
    usec.push_back(std::chrono::duration<double, std::micro>(clock::now() - t).count());
  }
  return usec;
}

}  // namespace bench
