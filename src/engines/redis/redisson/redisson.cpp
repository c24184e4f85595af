#include "engines/redis/redisson/redisson.hpp"

#include "engines/redis/connection/loop.hpp"
#include "engines/redis/connection/replies.hpp"
#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/deployment/diagnosis.hpp"
#include "engines/redis/locks/answers.hpp"
#include "engines/redis/locks/keep_apart.hpp"
#include "engines/redis/redisson/announcements.hpp"
#include "engines/redis/redisson/failures.hpp"
#include "engines/redis/redisson/layout.hpp"
#include "engines/redis/redisson/listing.hpp"
#include "engines/redis/redisson/scripts.hpp"
#include "engines/redis/redisson/waiters.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace tyer::redis::redisson {

namespace {

using engine::answer;
using engine::failure;
using engine::fate;
using engine::id;
using engine::kept;
using engine::mode;
using engine::reply;
using engine::target;
using engine::time_point;
using engine::why;
using std::chrono::milliseconds;

constexpr std::size_t keep_batch = 200;
constexpr std::size_t reason_bytes_max = 512;

const scripts::set& scripts_for(const config& c) {
  return c.deployment == shape::cluster ? scripts::in_a_cluster : scripts::on_one_server;
}

class redisson_engine final : public engine::engine, connection::listener, announcements::listener {
 public:
  redisson_engine(const config& c, const tyer::engine::environment& e)
      : clock_(e.clock),
        confirms_(c.replicas > 0),
        layout_(e.prefix),
        inbox_(layout_.inbox(e.ids->nonce())),
        log_(e.log),
        scripts_(scripts_for(c)),
        loop_(*e.clock),
        servers_(make_deployment(loop_, factory(c, e))),
        announcements_(loop_, factory(c, e), *this) {}

  std::uint32_t group(std::string_view name) override {
    return servers_->one_name_per_call() ? servers_->group(layout_.key(name)) : 0;
  }

  tyer::engine::capabilities can() const noexcept override {
    return {.push = pushed_, .owners = false, .handoffs = false, .ttl_min = milliseconds{1}, .keep_batch = keep_batch};
  }

  void open(tyer::engine::events& e) override {
    events_ = &e;
    servers_->open(*this);
  }

  void acquire(const tyer::engine::request&, reply<answer>) override;
  void keep(std::span<const target>, fate as, milliseconds ttl, reply<kept>) override;
  void release(const target&, bool clean, reply<fate>) override;
  void convert(const target&, mode, milliseconds, reply<answer> back) override {
    refuse(unsupported("a Redisson lock cannot be converted"), std::move(back));
  }
  void lift(const target&, std::uint64_t, reply<fate> back) override {
    refuse(unsupported("a Redisson lock has no token"), std::move(back));
  }
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) override;
  void evict(const target&, std::string_view reason, reply<fate>) override;
  void show(std::string_view name, reply<tyer::engine::page> back) override {
    redisson::show(*servers_, layout_, scripts_.show, name, std::move(back));
  }
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
            reply<tyer::engine::page> back) override {
    redisson::list(*servers_, layout_, scripts_.show, prefix, cursor, limit, std::move(back));
  }
  void watch(std::string_view, bool) override {}
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;

  void close(reply<tyer::engine::done>) override;

  void run(time_point until) override { loop_.run(until); }
  void wake() noexcept override { loop_.wake(); }

 private:
  connection_factory factory(const config& c, const tyer::engine::environment& e) const {
    return {c, inbox_, e.request_timeout, e.ids->nonce(), e.clock, e.log, {scripts_.all, for_another_clock}};
  }

  void on_up(const tyer::engine::server_facts& f) override {
    pushed_ = servers_->pushes();
    events_->up(f);
  }
  void on_down(const failure& f) override { events_->down(f); }
  void on_message(std::string_view) override;

  void on_announced(std::string_view channel) override;
  void on_deaf(std::string_view channel) override;

  void answered(const id&, const received&, milliseconds ttl, reply<answer>&);
  void listen_for(const id&, const core::endpoint& server);
  void stop_waiting(const id&);
  void keep_together(std::span<const target>, milliseconds ttl, reply<kept>);

  // The replicas are asked about a key of ours: the name is Redisson's, and so may be any other with the same beginning.
  template <class T>
  void when_confirmed(const received& r, T what, reply<T> back) {
    if (!confirms_) return back({r.sent, std::move(what)});
    once_confirmed<T>(*servers_, *r.by, inbox_, {r.sent, std::move(what)}, std::move(back));
  }

  template <class T>
  void refuse(failure f, reply<T> back) {
    servers_->refuse(std::move(f), refused<T>(std::move(back)));
  }

  const core::clock* clock_;
  bool confirms_, warned_ = false, closing_ = false;
  std::atomic<bool> pushed_{true};  // any thread may ask what the engine can
  tyer::engine::events* events_ = nullptr;
  layout layout_;
  std::string inbox_;
  log_hook log_;
  const scripts::set& scripts_;
  waiters waiters_;
  loop loop_;
  std::unique_ptr<deployment> servers_;
  announcements announcements_;
};

void redisson_engine::acquire(const tyer::engine::request& r, reply<answer> back) {
  if (r.what.how != mode::exclusive) {
    return refuse(unsupported("protocol=redisson has only exclusive locks"), std::move(back));
  }
  if (r.lock_delay.count() != 0) return refuse(unsupported("protocol=redisson has no lock_delay"), std::move(back));
  const auto key = layout_.key(r.what.name), field = field_of(r.what.who), ttl = std::to_string(r.ttl.count());
  // If nothing is known of the server's clock, we are not connected: the connection will refuse the call.
  const auto not_after = std::to_string((servers_->clock(key).latest(clock_->now()) + r.not_after).count());
  const std::array<std::string_view, 5> words{"1", key, field, not_after, ttl};
  if (r.enqueue) waiters_.join(r.what.who, layout::channel(key));
  servers_->call(scripts_.acquire, words,
                 [this, who = r.what.who, lease = r.ttl, back = std::move(back)](const received& x) mutable {
                   answered(who, x, lease, back);
                 });
}

// Any answer but `busy` ends the wait: a failed request is repeated, and joins again.
void redisson_engine::answered(const id& who, const received& r, milliseconds ttl, reply<answer>& back) {
  if (r.wrong != nullptr) {
    stop_waiting(who);
    return back({r.sent, in_our_words(*r.wrong)});
  }
  auto result = parse_acquire(first(r), ttl);
  auto* a = std::get_if<answer>(&result);
  if (a != nullptr && std::holds_alternative<tyer::engine::busy>(*a)) {
    listen_for(who, *r.by);
    return back({r.sent, std::move(*a)});
  }
  stop_waiting(who);
  if (a != nullptr) return when_confirmed<answer>(r, std::move(*a), std::move(back));
  if (auto* f = std::get_if<failure>(&result)) return back({r.sent, in_our_words(std::move(*f))});
  servers_->read_clocks();
  back({r.sent, failure{why::not_sent, make_error_code(errc::unavailable),
                        "the request reached the server too late, so it did nothing"}});
}

// At the server that has just answered. A try, or a caller that has left meanwhile, does not wait.
void redisson_engine::listen_for(const id& who, const core::endpoint& server) {
  if (!servers_->pushes()) return;
  if (const auto* channel = waiters_.channel_of(who)) announcements_.listen(*channel, server);
}

void redisson_engine::stop_waiting(const id& who) {
  if (const auto channel = waiters_.leave(who)) announcements_.unlisten(*channel);
}

void redisson_engine::on_announced(std::string_view channel) {
  if (closing_) return;
  for (const auto& who : waiters_.of(std::string{channel})) events_->wake(who);
}

void redisson_engine::on_deaf(std::string_view channel) {
  if (!log_ || std::exchange(warned_, true)) return;
  const bool moved_perhaps = servers_->one_name_per_call();
  log_(moved_perhaps ? log_level::info : log_level::warning,
       "the server does not allow a subscription to " + std::string{channel} + ", so waiters poll instead" +
           (moved_perhaps ? "; or the name has moved to another master" : ""));
}

void redisson_engine::close(reply<tyer::engine::done> back) {
  closing_ = true;
  servers_->close([this, back = std::move(back)]() mutable {
    announcements_.close([this, back = std::move(back)]() mutable { back({clock_->now(), tyer::engine::done{}}); });
  });
}

void redisson_engine::keep(std::span<const target> targets, fate as, milliseconds ttl, reply<kept> back) {
  if (as == fate::waiting)
    ttl = milliseconds{0};  // there are no places to keep; a holder is answered `holding`, and not extended
  if (targets.empty() && !servers_->pushes()) return keep_nothing(*servers_, std::move(back));
  if (!servers_->one_name_per_call()) return keep_together(targets, ttl, std::move(back));
  keep_apart(targets, std::move(back), [&](std::span<const target> of_one_name, reply<kept> part) {
    keep_together(of_one_name, ttl, std::move(part));
  });
}

void redisson_engine::keep_together(std::span<const target> targets, milliseconds ttl, reply<kept> back) {
  const auto count = targets.size();
  std::vector<std::string> texts{std::to_string(count)};
  for (const auto& t : targets) texts.push_back(layout_.key(t.name));
  for (const auto& t : targets) texts.push_back(field_of(t.who));
  texts.push_back(std::to_string(ttl.count()));
  const std::vector<std::string_view> words{texts.begin(), texts.end()};
  servers_->call(scripts_.keep, words, [this, count, ttl, back = std::move(back)](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, in_our_words(*r.wrong)});
    auto result = parse_kept(first(r), count, ttl);
    if (auto* f = std::get_if<failure>(&result)) return back({r.sent, std::move(*f)});
    when_confirmed<kept>(r, std::get<kept>(std::move(result)), std::move(back));
  });
}

void redisson_engine::release(const target& t, bool, reply<fate> back) {
  stop_waiting(t.who);
  const auto key = layout_.key(t.name), field = field_of(t.who), channel = layout::channel(key);
  const std::array<std::string_view, 4> words{"1", key, field, channel};
  servers_->call(scripts_.release, words, parsed<fate>(std::move(back), parse_fate, in_our_words));
}

void redisson_engine::evict(const target& t, std::string_view, reply<fate> back) {
  const auto key = layout_.key(t.name), field = field_of(t.who), channel = layout::channel(key);
  const auto inbox = layout_.inbox(t.who.nonce());
  const std::array<std::string_view, 5> words{"1", key, field, channel, inbox};
  servers_->call(scripts_.release, words, parsed<fate>(std::move(back), parse_fate, in_our_words));
}

void redisson_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  const auto key = layout_.key(name), inboxes = layout_.inboxes();
  const std::array<std::string_view, 4> words{"1", key, inboxes, reason.substr(0, reason_bytes_max)};
  servers_->call(scripts_.ask, words, parsed<std::uint32_t>(std::move(back), parse_count, in_our_words));
}

void redisson_engine::diagnose(reply<std::vector<tyer::engine::finding>> back) {
  examine_all(*servers_, {.confirmed = confirms_, .tokens = false, .clock = clock_}, std::move(back));
}

// The message is: kind, field, and for `a` the reason on a line of its own. Any client may publish to the channel, so the
// text may be anything.
void redisson_engine::on_message(std::string_view text) {
  if (text.empty()) return;
  const auto line_end = text.find('\n');
  const auto who = id_of(text.substr(1, line_end == text.npos ? text.npos : line_end - 1));
  if (!who) return;
  if (text.front() == 'g') return events_->suspect(*who);
  if (text.front() == 'a' && line_end != text.npos) events_->asked(*who, text.substr(line_end + 1));
}

}  // namespace

tyer::engine::made make(core::uri& address, const tyer::engine::environment& e) {
  for (const char* option : {"tombstone_ttl", "waiters_max"}) {
    if (address.find(option)) {
      return {nullptr, {errc::invalid_uri, std::string{"?"} + option + "= has no meaning with ?protocol=redisson"}};
    }
  }
  auto read = redis::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<redisson_engine>(read.value, e), {}};
}

}  // namespace tyer::redis::redisson
