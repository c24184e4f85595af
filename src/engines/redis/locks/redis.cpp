// The engine behind redis://, redis+sentinel://, redis+cluster:// and their like: locks as small scripts.
#include "engine/engine.hpp"
#include "engine/table.hpp"
#include "engines/kit/options.hpp"
#include "engines/redis/config.hpp"
#include "engines/redis/connection/replies.hpp"
#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/deployment/diagnosis.hpp"
#include "engines/redis/locks/answers.hpp"
#include "engines/redis/locks/commands.hpp"
#include "engines/redis/locks/keep_apart.hpp"
#include "engines/redis/locks/keys.hpp"
#include "engines/redis/locks/listing.hpp"
#include "engines/redis/redisson/redisson.hpp"
#include "engines/redis/scripts/scripts.hpp"

#include <tyer/export.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tyer::redis {

namespace {

using engine::answer;
using engine::failure;
using engine::fate;
using engine::id;
using engine::kept;
using engine::mode;
using engine::outcome;
using engine::reply;
using engine::target;
using engine::time_point;
using engine::why;
using std::chrono::milliseconds;

constexpr std::size_t keep_batch = 200;
constexpr milliseconds only_look{0};        // reads a place without extending it: see keep_waiters.lua
constexpr milliseconds listen_min{10'000};  // stays subscribed this long after the last waiter
constexpr milliseconds lock_delay_max{std::chrono::hours{24 * 366}};

failure no(why kind, errc code, std::string words) { return {kind, make_error_code(code), std::move(words)}; }

// What is wrong with a request in any state of the server.
std::optional<failure> objection(const engine::request& r) {
  if (r.lock_delay.count() < 0 || r.lock_delay > lock_delay_max) {
    return no(why::refused, errc::refused, "the lock delay is out of its range");
  }
  if (r.what.how != mode::permit) return std::nullopt;
  if (r.take == 0 || r.take > r.capacity) {
    return no(why::refused, errc::refused,
              "cannot take " + std::to_string(r.take) + " of " + std::to_string(r.capacity) + " permits");
  }
  if (r.capacity > capacity_max) {
    return no(why::over_limit, errc::over_limit, "at most " + std::to_string(capacity_max) + " permits");
  }
  return std::nullopt;
}

const scripts::set& scripts_for(const config& c) {
  return c.deployment == shape::cluster ? scripts::in_a_cluster : scripts::on_one_server;
}

class redis_engine final : public engine::engine, connection::listener {
 public:
  redis_engine(const config& c, const tyer::engine::environment& e)
      : clock_(e.clock),
        confirms_(c.replicas > 0),
        tombstone_ttl_(c.tombstone_ttl),
        commands_(keys{e.prefix}, c.tombstone_ttl, c.waiters_max),
        scripts_(scripts_for(c)),
        loop_(*e.clock),
        servers_(make_deployment(loop_, {c,
                                         commands_.names().inbox(e.ids->nonce()),
                                         e.request_timeout,
                                         e.ids->nonce(),
                                         e.clock,
                                         e.log,
                                         {scripts_.all, for_another_clock}})) {}

  tyer::engine::capabilities can() const noexcept override {
    auto c = kit::all_modes(keep_batch);
    c.lock_delay = c.lift = true;
    c.push = pushed_;
    return c;
  }

  std::uint32_t group(std::string_view name) override {
    return servers_->one_name_per_call() ? servers_->group(commands_.key(name)) : 0;
  }

  void open(tyer::engine::events& e) override {
    events_ = &e;
    servers_->open(*this);
  }

  void acquire(const tyer::engine::request&, reply<answer>) override;
  void keep(std::span<const target>, fate as, milliseconds ttl, reply<kept>) override;
  void release(const target&, bool clean, reply<fate>) override;
  void convert(const target&, mode to, milliseconds not_after, reply<answer>) override;
  void lift(const target&, std::uint64_t part, reply<fate>) override;
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) override;
  void evict(const target&, std::string_view reason, reply<fate>) override;
  void show(std::string_view name, reply<tyer::engine::page> back) override {
    redis::show(*servers_, commands_, scripts_.show, name, std::move(back));
  }
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
            reply<tyer::engine::page> back) override {
    redis::list(*servers_, commands_, scripts_.show, prefix, cursor, limit, std::move(back));
  }
  // Redis sends no changed() yet: observers poll.
  void watch(std::string_view, bool) override {}
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;

  void close(reply<tyer::engine::done> back) override {
    closing_ = true;
    servers_->close([this, back = std::move(back)]() mutable { back({clock_->now(), tyer::engine::done{}}); });
  }

  void run(time_point until) override { loop_.run(until); }
  void wake() noexcept override { loop_.wake(); }

 private:
  void on_up(const tyer::engine::server_facts& f) override {
    pushed_ = servers_->pushes();
    events_->up(f);
  }
  void on_down(const failure& f) override { events_->down(f); }
  void on_message(std::string_view) override;
  void on_unheard(std::string_view key, const id& who) override;

  // If nothing is known of the server's clock, we are not connected: the connection will refuse the call.
  std::chrono::microseconds server_time_after(milliseconds wait, std::string_view key) const {
    return servers_->clock(key).latest(clock_->now()) + wait;
  }
  void granted_or_not(const received&, const std::string& key, milliseconds ttl, reply<answer>&);
  void listen_if_queued(std::string_view key, const id& who, milliseconds place, reply<answer>&);
  void listen_while_kept(std::span<const target>, milliseconds place, reply<kept>&);
  void keep_together(std::span<const target>, fate as, milliseconds ttl, reply<kept>);

  template <class T>
  void refuse(failure f, reply<T> back) {
    servers_->refuse(std::move(f), refused<T>(std::move(back)));
  }

  const core::clock* clock_;
  bool confirms_, closing_ = false;
  std::atomic<bool> pushed_{true};  // any thread may ask what the engine can
  milliseconds tombstone_ttl_;
  tyer::engine::events* events_ = nullptr;
  commands commands_;
  const scripts::set& scripts_;
  loop loop_;
  std::unique_ptr<deployment> servers_;
};

// With a channel for each name: subscribes for every queued id.
void redis_engine::listen_if_queued(std::string_view key, const id& who, milliseconds place, reply<answer>& back) {
  if (!servers_->listens_for_names()) return;
  back = [this, key = std::string{key}, who, place, back = std::move(back)](outcome<answer>&& o) mutable {
    const auto* a = std::get_if<answer>(&o.result);
    const auto* q = a != nullptr ? std::get_if<tyer::engine::queued>(a) : nullptr;
    if (q != nullptr)
      servers_->waits(key, who, o.sent, std::max({listen_min, 2 * place, 2 * q->look_again}));
    else if (a != nullptr && servers_->waits_no_more(key, who))
      events_->wake(who);
    back(std::move(o));
  };
}

void redis_engine::listen_while_kept(std::span<const target> targets, milliseconds place, reply<kept>& back) {
  if (!servers_->listens_for_names()) return;
  std::vector<id> ids;
  for (const auto& t : targets) ids.push_back(t.who);
  back = [this, key = std::string{commands_.key(targets.front().name)}, ids = std::move(ids), place,
          back = std::move(back)](outcome<kept>&& o) mutable {
    const auto* k = std::get_if<kept>(&o.result);
    for (std::size_t i = 0; k != nullptr && i < std::min(k->fates.size(), ids.size()); ++i) {
      if (k->fates[i] == fate::waiting) servers_->waits(key, ids[i], o.sent, std::max(listen_min, 2 * place));
    }
    back(std::move(o));
  };
}

// A waiter without a place has got its turn, or must ask again. This does not extend its place: subscribing must not keep a
// dead waiter alive.
void redis_engine::on_unheard(std::string_view key, const id& who) {
  const auto name = commands_.names().name_of(key);
  if (!name) return;
  const target t{who, *name};
  servers_->call(scripts_.keep_waiters, commands_.keep({&t, 1}, only_look), [this, who](const received& r) {
    const bool waits = r.wrong == nullptr && !r.words.empty() && r.words[0] == "w";
    if (!waits && !closing_) events_->wake(who);
  });
}

void redis_engine::acquire(const tyer::engine::request& r, reply<answer> back) {
  if (auto f = objection(r)) return refuse(*std::move(f), std::move(back));
  const auto key = commands_.key(r.what.name);
  if (r.enqueue) listen_if_queued(key, r.what.who, r.waiter_ttl, back);
  auto kept = confirms_ ? std::string{key} : std::string{};
  const auto words = commands_.acquire(r, server_time_after(r.not_after, key));
  servers_->call(scripts_.acquire, words,
                 [this, key = std::move(kept), ttl = r.ttl, back = std::move(back)](const received& x) mutable {
                   granted_or_not(x, key, ttl, back);
                 });
}

void redis_engine::granted_or_not(const received& r, const std::string& key, milliseconds ttl, reply<answer>& back) {
  if (r.wrong != nullptr) return back({r.sent, *r.wrong});
  auto result = parse_acquire(r.words.empty() ? std::string_view{} : r.words[0], ttl);
  if (auto* f = std::get_if<failure>(&result)) return back({r.sent, std::move(*f)});
  if (auto* a = std::get_if<answer>(&result)) {
    if (!confirms_ || !std::holds_alternative<tyer::engine::granted>(*a)) return back({r.sent, std::move(*a)});
    return once_confirmed<answer>(*servers_, *r.by, key, {r.sent, std::move(*a)}, std::move(back));
  }
  servers_->read_clocks();
  back({r.sent, failure{why::not_sent, make_error_code(errc::unavailable),
                        "the request reached the server too late, so it did nothing"}});
}

void redis_engine::keep(std::span<const target> targets, fate as, milliseconds ttl, reply<kept> back) {
  if (targets.empty() && !servers_->pushes()) return keep_nothing(*servers_, std::move(back));
  if (!servers_->one_name_per_call()) return keep_together(targets, as, ttl, std::move(back));
  keep_apart(targets, std::move(back), [&](std::span<const target> of_one_name, reply<kept> part) {
    keep_together(of_one_name, as, ttl, std::move(part));
  });
}

void redis_engine::keep_together(std::span<const target> targets, fate as, milliseconds ttl, reply<kept> back) {
  const bool holds = as == fate::holding;
  if (!holds && !targets.empty()) listen_while_kept(targets, ttl, back);
  auto key = holds && confirms_ && !targets.empty() ? std::string{commands_.key(targets.front().name)} : std::string{};
  servers_->call(
      holds ? scripts_.keep_holds : scripts_.keep_waiters, commands_.keep(targets, ttl),
      [this, key = std::move(key), count = targets.size(), ttl, back = std::move(back)](const received& r) mutable {
        if (r.wrong != nullptr) return back({r.sent, *r.wrong});
        outcome<kept> o{r.sent, parse_kept(r.words.empty() ? std::string_view{} : r.words[0], count, ttl)};
        if (key.empty() || std::holds_alternative<failure>(o.result)) return back(std::move(o));
        once_confirmed(*servers_, *r.by, key, std::move(o), std::move(back));
      });
}

void redis_engine::release(const target& t, bool clean, reply<fate> back) {
  if (servers_->listens_for_names() && servers_->waits_no_more(commands_.key(t.name), t.who)) {
    back = [this, who = t.who, back = std::move(back)](outcome<fate>&& o) mutable {
      const auto* was = std::get_if<fate>(&o.result);
      if (was != nullptr && *was != fate::waiting && !closing_) events_->wake(who);
      back(std::move(o));
    };
  }
  servers_->call(scripts_.release, commands_.release(t, clean), parsed<fate>(std::move(back), parse_fate));
}

void redis_engine::convert(const target& t, mode to, milliseconds not_after, reply<answer> back) {
  if (to == mode::permit) {
    return refuse(no(why::unsupported, errc::unsupported, "permits cannot be converted"), std::move(back));
  }
  const auto key = commands_.key(t.name);
  listen_if_queued(key, t.who, {}, back);
  auto kept = confirms_ ? std::string{key} : std::string{};
  const auto words = commands_.convert(t, to, server_time_after(not_after, key));
  servers_->call(scripts_.convert, words,
                 [this, key = std::move(kept), back = std::move(back)](const received& x) mutable {
                   granted_or_not(x, key, {}, back);
                 });
}

void redis_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  servers_->call(scripts_.ask, commands_.ask(name, reason), parsed<std::uint32_t>(std::move(back), parse_count));
}

void redis_engine::evict(const target& t, std::string_view, reply<fate> back) {
  servers_->call(scripts_.evict, commands_.evict(t), parsed<fate>(std::move(back), parse_fate));
}

void redis_engine::lift(const target& t, std::uint64_t part, reply<fate> back) {
  servers_->call(scripts_.lift, commands_.lift(t, part), parsed<fate>(std::move(back), parse_fate));
}

void redis_engine::diagnose(reply<std::vector<tyer::engine::finding>> back) {
  examine_all(*servers_, {.confirmed = confirms_, .tombstone_ttl = tombstone_ttl_, .clock = clock_}, std::move(back));
}

// The message is: kind, id, and for `a` the reason. Any client of the server may publish to the channel, so the text may be
// anything.
void redis_engine::on_message(std::string_view text) {
  if (text.size() < 17) return;
  const auto who = id::from(text.substr(1, 16));
  switch (text.front()) {
    case 'w': return events_->wake(who);
    case 'g': return events_->suspect(who);
    case 'a': return events_->asked(who, text.substr(17));
  }
}

}  // namespace
}  // namespace tyer::redis

TYER_EXPORT tyer::engine::made tyer_engine_redis(tyer::core::uri& address, const tyer::engine::environment& e) {
  if (const auto protocol = address.take("protocol")) {
    if (*protocol == "redisson") return tyer::redis::redisson::make(address, e);
    return {nullptr, {tyer::errc::invalid_uri, "?protocol= must be redisson, or left out"}};
  }
  if (auto f = tyer::redis::keys::check_prefix(e.prefix)) return {nullptr, std::move(f)};
  auto read = tyer::redis::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<tyer::redis::redis_engine>(read.value, e), {}};
}
