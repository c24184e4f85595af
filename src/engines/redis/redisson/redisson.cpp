#include "engines/redis/redisson/redisson.hpp"

#include "engines/redis/connection/connection.hpp"
#include "engines/redis/connection/loop.hpp"
#include "engines/redis/connection/replies.hpp"
#include "engines/redis/connection/subscriber.hpp"
#include "engines/redis/deployment/diagnosis.hpp"
#include "engines/redis/locks/answers.hpp"
#include "engines/redis/redisson/failures.hpp"
#include "engines/redis/redisson/layout.hpp"
#include "engines/redis/redisson/listing.hpp"
#include "engines/redis/redisson/scripts.hpp"
#include "engines/redis/redisson/waiters.hpp"

#include <array>
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

class redisson_engine final : public engine::engine, connection::listener, subscriber::listener {
 public:
  redisson_engine(const config& c, const tyer::engine::environment& e)
      : clock_(e.clock),
        layout_(e.prefix),
        log_(e.log),
        loop_(*e.clock),
        connection_(loop_, settings(c, layout_, e)),
        subscriber_(loop_, settings(c, layout_, e), false) {}

  tyer::engine::capabilities can() const noexcept override {
    return {.push = true, .owners = false, .handoffs = false, .ttl_min = milliseconds{1}, .keep_batch = keep_batch};
  }

  void open(tyer::engine::events& e) override {
    events_ = &e;
    connection_.open(*this);
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
    redisson::show(connection_, layout_, name, std::move(back));
  }
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
            reply<tyer::engine::page> back) override {
    redisson::list(connection_, layout_, prefix, cursor, limit, std::move(back));
  }
  void watch(std::string_view, bool) override {}
  void diagnose(reply<std::vector<tyer::engine::finding>>) override;

  void close(reply<tyer::engine::done>) override;

  void run(time_point until) override { loop_.run(until); }
  void wake() noexcept override { loop_.wake(); }

 private:
  static connection::settings settings(const config& c, const layout& l, const tyer::engine::environment& e) {
    const auto nonce = e.ids->nonce();
    return {c, l.inbox(nonce), e.request_timeout, nonce, e.clock, e.log, connection::use::locks, scripts::all};
  }

  void on_up(const tyer::engine::server_facts& f) override { events_->up(f); }
  void on_down(const failure& f) override { events_->down(f); }
  void on_message(std::string_view) override;

  // For the channels on which Redisson announces that a name is free.
  void on_heard(std::string_view channel, std::string_view) override { wake_those_of(channel); }
  void on_listening(std::string_view channel) override { wake_those_of(channel); }  // earlier messages were missed
  void on_deaf(std::string_view channel) override;

  void answered(const id&, const received&, milliseconds ttl, reply<answer>&);
  void listen_for(const id&);
  void stop_waiting(const id&);
  void wake_those_of(std::string_view channel);

  template <class T>
  void refuse(failure f, reply<T> back) {
    connection_.refuse(std::move(f), refused<T>(std::move(back)));
  }

  const core::clock* clock_;
  tyer::engine::events* events_ = nullptr;
  layout layout_;
  log_hook log_;
  waiters waiters_;
  bool listens_ = false, warned_ = false, closing_ = false;
  loop loop_;
  connection connection_;
  subscriber subscriber_;
};

void redisson_engine::acquire(const tyer::engine::request& r, reply<answer> back) {
  if (r.what.how != mode::exclusive) {
    return refuse(unsupported("protocol=redisson has only exclusive locks"), std::move(back));
  }
  if (r.lock_delay.count() != 0) return refuse(unsupported("protocol=redisson has no lock_delay"), std::move(back));
  const auto key = layout_.key(r.what.name), field = field_of(r.what.who), ttl = std::to_string(r.ttl.count());
  // If nothing is known of the server's clock, we are not connected: the connection will refuse the call.
  const auto not_after = std::to_string((connection_.clock().latest(clock_->now()) + r.not_after).count());
  const std::array<std::string_view, 5> words{"1", key, field, ttl, not_after};
  if (r.enqueue) waiters_.join(r.what.who, layout::channel(key));
  connection_.call(scripts::acquire, words,
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
  if (auto* a = std::get_if<answer>(&result)) {
    if (std::holds_alternative<tyer::engine::busy>(*a))
      listen_for(who);
    else
      stop_waiting(who);
    return back({r.sent, std::move(*a)});
  }
  stop_waiting(who);
  if (auto* f = std::get_if<failure>(&result)) return back({r.sent, in_our_words(std::move(*f))});
  connection_.read_clock();
  back({r.sent, failure{why::not_sent, make_error_code(errc::unavailable),
                        "the request reached the server too late, so it did nothing"}});
}

// A try, or a caller that has left meanwhile, does not wait. The second connection is made for the first waiter.
void redisson_engine::listen_for(const id& who) {
  const auto* channel = waiters_.channel_of(who);
  if (channel == nullptr || closing_) return;
  if (!std::exchange(listens_, true)) subscriber_.open(*this);
  subscriber_.listen(*channel);
}

void redisson_engine::stop_waiting(const id& who) {
  if (const auto channel = waiters_.leave(who)) subscriber_.unlisten(*channel);
}

void redisson_engine::wake_those_of(std::string_view channel) {
  if (closing_) return;
  for (const auto& who : waiters_.of(std::string{channel})) events_->wake(who);
}

void redisson_engine::on_deaf(std::string_view channel) {
  if (!log_ || std::exchange(warned_, true)) return;
  log_(log_level::warning,
       "the server does not allow a subscription to " + std::string{channel} + ", so waiters poll instead");
}

void redisson_engine::close(reply<tyer::engine::done> back) {
  closing_ = true;
  auto done = [this, back = std::move(back)]() mutable { back({clock_->now(), tyer::engine::done{}}); };
  if (!listens_) return connection_.close(std::move(done));
  connection_.close([this, done = std::move(done)]() mutable { subscriber_.close(std::move(done)); });
}

void redisson_engine::keep(std::span<const target> targets, fate as, milliseconds ttl, reply<kept> back) {
  const auto count = targets.size();
  if (as == fate::waiting)
    ttl = milliseconds{0};  // there are no places to keep; a holder is answered `holding`, and not extended
  std::vector<std::string> texts{std::to_string(count)};
  for (const auto& t : targets) texts.push_back(layout_.key(t.name));
  for (const auto& t : targets) texts.push_back(field_of(t.who));
  texts.push_back(std::to_string(ttl.count()));
  const std::vector<std::string_view> words{texts.begin(), texts.end()};
  const auto parse = [count, ttl](std::string_view text) { return parse_kept(text, count, ttl); };
  connection_.call(scripts::keep, words, parsed<kept>(std::move(back), parse, in_our_words));
}

void redisson_engine::release(const target& t, bool, reply<fate> back) {
  stop_waiting(t.who);
  const auto key = layout_.key(t.name), field = field_of(t.who), channel = layout::channel(key);
  const std::array<std::string_view, 4> words{"1", key, field, channel};
  connection_.call(scripts::release, words, parsed<fate>(std::move(back), parse_fate, in_our_words));
}

void redisson_engine::evict(const target& t, std::string_view, reply<fate> back) {
  const auto key = layout_.key(t.name), field = field_of(t.who), channel = layout::channel(key);
  const auto inbox = layout_.inbox(t.who.nonce());
  const std::array<std::string_view, 5> words{"1", key, field, channel, inbox};
  connection_.call(scripts::release, words, parsed<fate>(std::move(back), parse_fate, in_our_words));
}

void redisson_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  const auto key = layout_.key(name), inboxes = layout_.inboxes();
  const std::array<std::string_view, 4> words{"1", key, inboxes, reason.substr(0, reason_bytes_max)};
  connection_.call(scripts::ask, words, parsed<std::uint32_t>(std::move(back), parse_count, in_our_words));
}

void redisson_engine::diagnose(reply<std::vector<tyer::engine::finding>> back) {
  connection_.command("INFO", {}, [this, back = std::move(back)](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, *r.wrong});
    back({r.sent, examine(first(r), connection_.clock().jumps(), true)});
  });
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
  if (address.scheme != "redis" && address.scheme != "rediss") {
    return {nullptr, {errc::invalid_uri, "?protocol=redisson needs redis:// or rediss://, one server"}};
  }
  for (const char* option : {"tombstone_ttl", "waiters_max", "replicas"}) {
    if (address.find(option)) {
      return {nullptr, {errc::invalid_uri, std::string{"?"} + option + "= has no meaning with ?protocol=redisson"}};
    }
  }
  auto read = redis::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<redisson_engine>(read.value, e), {}};
}

}  // namespace tyer::redis::redisson
