#include "engines/memory/memory.hpp"

#include "engine/table.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <utility>

namespace tyer::memory {

namespace {

constexpr std::size_t keep_batch_max = 1000;
constexpr const char* too_late = "it would have been executed after its not_after";

failure no(why kind, errc code, std::string words) { return {kind, make_error_code(code), std::move(words)}; }

}  // namespace

// One call on its way. Touched by the thread of the engine only.
struct memory_engine::call {
  explicit call(time_point s) : sent(s) {}
  virtual ~call() = default;
  virtual void fail(failure) = 0;
  virtual void drop() = 0;

  const time_point sent;
  bool answered = false;
};

template <class T>
struct memory_engine::call_of final : call {
  call_of(time_point s, reply<T> r) : call(s), on_answer(std::move(r)) {}

  void answer(result<T>&& r) {
    if (std::exchange(answered, true)) return;  // it came too late
    on_answer({sent, std::move(r)});
    on_answer = nullptr;
  }
  void fail(failure f) override { answer(std::move(f)); }
  void drop() override {
    answered = true;
    on_answer = nullptr;
  }

  reply<T> on_answer;
};

memory_engine::memory_engine(std::shared_ptr<store> s, const environment& e) : store_(std::move(s)), environment_(e) {}

memory_engine::~memory_engine() {
  store_->leave(*inbox_);
  for (const auto& c : calls_) c->drop();  // a paused store may keep them longer than their owner lives
}

capabilities memory_engine::can() const noexcept {
  return {.queue = true,
          .shared = true,
          .permits = true,
          .push = true,
          .token = true,
          .convert = true,
          .lock_delay = true,
          .lift = true,
          .watch = true,
          .ttl_min = milliseconds{1},
          .keep_batch = keep_batch_max};
}

void memory_engine::open(events& e) {
  events_ = &e;
  store_->join(environment_.ids->nonce(), inbox_);
}

template <class T, class F>
void memory_engine::submit(std::string name, reply<T> r, F work) {
  auto c = std::make_shared<call_of<T>>(environment_.clock->now(), std::move(r));
  calls_.push_back(c);
  if (closed_) {
    inbox_->put([c](events*) { c->fail(no(why::not_sent, errc::closed, "the engine was closed")); });
    return;
  }
  const bool done =
      store_->submit(std::move(name), [c, box = inbox_, work = std::move(work)](const store::visit& v) mutable {
        auto answer = result<T>{work(v)};
        if (v.unheard) return;
        box->put([c, answer = std::move(answer)](events*) mutable { c->answer(std::move(answer)); });
      });
  if (!done) environment_.clock->due(due(*c));
}

void memory_engine::acquire(const request& r, reply<answer> on_answer) {
  submit(full(r.what.name), std::move(on_answer),
         [r = request{r}, owner = std::string{r.owner}](const store::visit& v) mutable -> result<answer> {
           if (v.age >= r.not_after) return no(why::not_sent, errc::unavailable, too_late);
           r.what.name = v.name;
           r.owner = owner;
           return v.names.acquire(v.name, r, v.now, v.out);
         });
}

void memory_engine::keep(std::span<const target> all, fate as, milliseconds ttl, reply<std::vector<fate>> on_answer) {
  std::vector<std::pair<id, std::string>> what;
  for (const target& t : all) what.emplace_back(t.who, full(t.name));
  submit({}, std::move(on_answer),
         [what = std::move(what), as, ttl](const store::visit& v) -> result<std::vector<fate>> {
           if (what.size() > keep_batch_max) {
             return no(why::over_limit, errc::over_limit, "too many to keep at once");
           }
           std::vector<fate> fates;
           for (const auto& [who, name] : what) fates.push_back(v.names.keep(name, who, as, ttl, v.now, v.out));
           return fates;
         });
}

void memory_engine::release(const target& t, bool clean, reply<fate> on_answer) {
  submit(full(t.name), std::move(on_answer),
         [who = t.who, clean](const store::visit& v) { return v.names.release(v.name, who, clean, v.now, v.out); });
}

void memory_engine::convert(const target& t, mode to, milliseconds not_after, reply<answer> on_answer) {
  submit(full(t.name), std::move(on_answer), [who = t.who, to, not_after](const store::visit& v) -> result<answer> {
    if (v.age >= not_after) return no(why::not_sent, errc::unavailable, too_late);
    return v.names.convert(v.name, who, to, v.now, v.out);
  });
}

void memory_engine::lift(const target& t, std::uint64_t part, reply<fate> on_answer) {
  submit(full(t.name), std::move(on_answer),
         [who = t.who, part](const store::visit& v) { return v.names.lift(v.name, who, part, v.now, v.out); });
}

void memory_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> on_answer) {
  submit(full(name), std::move(on_answer),
         [reason = std::string{reason}](const store::visit& v) { return v.names.ask(v.name, reason, v.now, v.out); });
}

void memory_engine::evict(const target& t, std::string_view reason, reply<fate> on_answer) {
  submit(full(t.name), std::move(on_answer), [who = t.who, reason = std::string{reason}](const store::visit& v) {
    return v.names.evict(v.name, who, reason, v.now, v.out);
  });
}

void memory_engine::show(std::string_view name, reply<page> on_answer) {
  submit(full(name), std::move(on_answer), [ours = environment_.prefix.size()](const store::visit& v) {
    page p = v.names.show(v.name, v.now);
    for (auto& e : p.entries) e.name.erase(0, ours);
    return p;
  });
}

void memory_engine::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<page> on_answer) {
  submit(full(prefix), std::move(on_answer),
         [cursor = std::string{cursor}, limit, ours = environment_.prefix.size()](const store::visit& v) {
           page p = v.names.list(v.name, cursor, limit, v.now);
           for (auto& e : p.entries) e.name.erase(0, ours);
           return p;
         });
}

void memory_engine::watch(std::string_view name, bool on) {
  if (!closed_) store_->watch(full(name), std::string{name}, inbox_, on);
}

void memory_engine::diagnose(reply<std::vector<finding>> on_answer) {
  submit({}, std::move(on_answer), [](const store::visit&) {
    return std::vector<finding>{{"memory:// locks inside this process only",
                                 "to exclude other processes use an engine that they reach too, like redis://", 0}};
  });
}

void memory_engine::close(reply<done> on_closed) {
  closed_ = true;
  closing_ = std::move(on_closed);
  store_->leave(*inbox_);
  inbox_->wake();
}

void memory_engine::run(time_point until) {
  for (delivery& d : inbox_->take(waiting_until(until))) d(closed_ ? nullptr : events_);
  give_up_overdue();
  if (closing_) finish_close();
}

void memory_engine::give_up_overdue() {
  const auto now = environment_.clock->now();
  while (!calls_.empty() && (calls_.front()->answered || due(*calls_.front()) <= now)) {
    const auto c = std::move(calls_.front());
    calls_.pop_front();
    if (!c->answered) c->fail(no(why::unknown, errc::outcome_unknown, "no answer within the request time-out"));
  }
}

void memory_engine::finish_close() {
  for (const auto& c : std::exchange(calls_, {})) {
    if (!c->answered) c->fail(no(why::unknown, errc::closed, "the engine was closed before it answered"));
  }
  std::exchange(closing_, nullptr)({environment_.clock->now(), done{}});
}

inbox::deadline memory_engine::waiting_until(time_point until) const {
  using std::chrono::steady_clock;
  const auto now = environment_.clock->now();
  if (!calls_.empty()) until = std::min(until, due(*calls_.front()));
  if (until <= now) return steady_clock::time_point{};
  if (!environment_.clock->flows()) return std::nullopt;
  // The condition variable knows no CLOCK_BOOTTIME: only the difference counts. Capped, since it may be "for ever".
  return steady_clock::now() + std::min<lease_clock::duration>(until - now, std::chrono::hours{1});
}

std::string memory_engine::full(std::string_view name) const { return environment_.prefix + std::string{name}; }

time_point memory_engine::due(const call& c) const { return c.sent + environment_.request_timeout; }

std::unique_ptr<engine::engine> make_engine(std::shared_ptr<store> s, const environment& e) {
  return std::make_unique<memory_engine>(std::move(s), e);
}

}  // namespace tyer::memory

extern "C" TYER_EXPORT tyer::engine::made tyer_engine_memory(tyer::core::uri& address,
                                                             const tyer::engine::environment& e) {
  const bool more_than_a_name = address.hosts.size() > 1 || !address.path.empty() || !address.user.empty() ||
                                (!address.hosts.empty() && address.hosts.front().port != 0);
  if (more_than_a_name) return {nullptr, {tyer::errc::invalid_uri, "memory:// takes a name and nothing else"}};
  const std::string name = address.hosts.empty() ? std::string{} : address.hosts.front().host;
  return {tyer::memory::make_engine(tyer::memory::named_store(name, *e.clock), e), {}};
}
