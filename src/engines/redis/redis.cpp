// The engine behind redis:// and rediss://: locks as small scripts on one server.
#include "engine/engine.hpp"
#include "engine/table.hpp"
#include "engines/redis/answers.hpp"
#include "engines/redis/commands.hpp"
#include "engines/redis/config.hpp"
#include "engines/redis/connection.hpp"
#include "engines/redis/diagnosis.hpp"
#include "engines/redis/keys.hpp"
#include "engines/redis/listing.hpp"
#include "engines/redis/redisson/redisson.hpp"
#include "engines/redis/scripts.hpp"

#include <tyer/export.hpp>

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
using engine::mode;
using engine::outcome;
using engine::reply;
using engine::target;
using engine::time_point;
using engine::why;
using std::chrono::milliseconds;

constexpr std::size_t keep_batch = 200;
constexpr milliseconds lock_delay_max{std::chrono::hours{24 * 366}};

failure no(why kind, errc code, std::string words) { return {kind, make_error_code(code), std::move(words)}; }

// What no state of the server could make right.
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

// Answers of one text. Parse gives a variant of T and failure.
template <class T, class Parse>
then parsed(reply<T> back, Parse parse) {
  return [back = std::move(back), parse](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, *r.wrong});
    std::visit([&](auto&& result) { back({r.sent, std::move(result)}); },
               parse(r.words.empty() ? std::string_view{} : r.words[0]));
  };
}

class redis_engine final : public engine::engine, connection::listener {
 public:
  redis_engine(const config& c, const tyer::engine::environment& e)
      : clock_(e.clock),
        commands_(keys{e.prefix}, c.tombstone_ttl, c.waiters_max),
        connection_({c, commands_.names().inbox(e.ids->nonce()), e.request_timeout, e.ids->nonce(), e.clock, e.log}) {}

  tyer::engine::capabilities can() const noexcept override {
    return {.queue = true,
            .shared = true,
            .permits = true,
            .push = true,
            .token = true,
            .convert = true,
            .lock_delay = true,
            .ttl_min = milliseconds{1},
            .keep_batch = keep_batch};
  }

  void open(tyer::engine::events& e) override {
    events_ = &e;
    connection_.open(*this);
  }

  void acquire(const tyer::engine::request&, reply<answer>) override;
  void keep(std::span<const target>, fate as, milliseconds ttl, reply<std::vector<fate>>) override;
  void release(const target&, bool clean, reply<fate>) override;
  void convert(const target&, mode to, milliseconds not_after, reply<answer>) override;
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) override;
  void evict(const target&, std::string_view reason, reply<fate>) override;
  void show(std::string_view name, reply<tyer::engine::page> back) override {
    redis::show(connection_, commands_, name, std::move(back));
  }
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
            reply<tyer::engine::page> back) override {
    redis::list(connection_, commands_, prefix, cursor, limit, std::move(back));
  }
  // Nobody is told of changes yet: whoever watches a name lists it from time to time.
  void watch(std::string_view, bool) override {}
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;

  void close(reply<tyer::engine::done> back) override {
    connection_.close([this, back = std::move(back)]() mutable { back({clock_->now(), tyer::engine::done{}}); });
  }

  void run(time_point until) override { connection_.run(until); }
  void wake() noexcept override { connection_.wake(); }

 private:
  void on_up(const tyer::engine::server_facts& f) override { events_->up(f); }
  void on_down(const failure& f) override { events_->down(f); }
  void on_message(std::string_view) override;

  // Nothing known of the server's clock means not connected: the connection will refuse.
  std::chrono::microseconds server_time_after(milliseconds wait) const {
    return connection_.clock().latest(clock_->now()) + wait;
  }
  void granted_or_not(const received&, milliseconds ttl, reply<answer>&);

  template <class T>
  void refuse(failure f, reply<T> back) {
    connection_.refuse(std::move(f), [back = std::move(back)](const received& r) mutable { back({r.sent, *r.wrong}); });
  }

  const core::clock* clock_;
  tyer::engine::events* events_ = nullptr;
  commands commands_;
  connection connection_;
};

void redis_engine::acquire(const tyer::engine::request& r, reply<answer> back) {
  if (auto f = objection(r)) return refuse(*std::move(f), std::move(back));
  connection_.call(
      scripts::acquire, commands_.acquire(r, server_time_after(r.not_after)),
      [this, ttl = r.ttl, back = std::move(back)](const received& x) mutable { granted_or_not(x, ttl, back); });
}

void redis_engine::granted_or_not(const received& r, milliseconds ttl, reply<answer>& back) {
  if (r.wrong != nullptr) return back({r.sent, *r.wrong});
  auto result = parse_acquire(r.words.empty() ? std::string_view{} : r.words[0], ttl);
  if (auto* a = std::get_if<answer>(&result)) return back({r.sent, std::move(*a)});
  if (auto* f = std::get_if<failure>(&result)) return back({r.sent, std::move(*f)});
  connection_.read_clock();
  back({r.sent, failure{why::not_sent, make_error_code(errc::unavailable),
                        "the request reached the server too late, so it did nothing"}});
}

void redis_engine::keep(std::span<const target> targets, fate as, milliseconds ttl, reply<std::vector<fate>> back) {
  const auto& via = as == fate::holding ? scripts::keep_holds : scripts::keep_waiters;
  const auto count = targets.size();
  connection_.call(
      via, commands_.keep(targets, ttl),
      parsed<std::vector<fate>>(std::move(back), [count](std::string_view text) { return parse_fates(text, count); }));
}

void redis_engine::release(const target& t, bool clean, reply<fate> back) {
  connection_.call(scripts::release, commands_.release(t, clean), parsed<fate>(std::move(back), parse_fate));
}

void redis_engine::convert(const target& t, mode to, milliseconds not_after, reply<answer> back) {
  if (to == mode::permit) {
    return refuse(no(why::unsupported, errc::unsupported, "permits cannot be converted"), std::move(back));
  }
  connection_.call(scripts::convert, commands_.convert(t, to, server_time_after(not_after)),
                   [this, back = std::move(back)](const received& x) mutable { granted_or_not(x, {}, back); });
}

void redis_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  connection_.call(scripts::ask, commands_.ask(name, reason), parsed<std::uint32_t>(std::move(back), parse_count));
}

void redis_engine::evict(const target& t, std::string_view, reply<fate> back) {
  connection_.call(scripts::evict, commands_.evict(t), parsed<fate>(std::move(back), parse_fate));
}

void redis_engine::diagnose(reply<std::vector<tyer::engine::finding>> back) {
  connection_.command("INFO", {}, [this, back = std::move(back)](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, *r.wrong});
    back({r.sent, examine(r.words.empty() ? std::string_view{} : r.words[0], connection_.clock().jumps())});
  });
}

// kind, id, and for `a` the reason. The channel is open to everybody on the server, so anything may come.
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
