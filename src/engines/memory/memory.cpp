#include "engines/memory/memory.hpp"

#include "engine/table.hpp"
#include "engines/kit/options.hpp"

#include <tyer/error.hpp>

#include <utility>

namespace tyer::memory {

namespace {

// Removes this client's prefix from the names.
page shortened(page p, std::size_t prefix) {
  for (auto& e : p.entries) e.name.erase(0, prefix);
  return p;
}

}  // namespace

memory_engine::memory_engine(std::shared_ptr<store> s, const tyer::engine::environment& e)
    : engine_base(e, {.scheme = "memory://", .request_timeout = e.request_timeout}), store_(std::move(s)) {}

memory_engine::~memory_engine() {
  store_->leave(*box());
  fall_silent();  // a paused store may keep calls beyond the life of this engine
}

tyer::engine::capabilities memory_engine::can() const noexcept {
  auto c = kit::all_modes(1000);
  c.lock_delay = c.lift = c.watch = true;
  return c;
}

std::string memory_engine::full(std::string_view name) const {
  std::string all;
  all.reserve(around().prefix.size() + name.size());
  return std::move(all.append(around().prefix).append(name));
}

void memory_engine::do_open() { store_->join(around().ids->nonce(), box()); }

template <class T, class F>
void memory_engine::submit(const call_ptr<T>& c, std::string name, F work) {
  const bool done =
      store_->submit(std::move(name), [this, c, to = box(), work = std::move(work)](const store::visit& v) mutable {
        auto answer = result<T>{work(v)};
        if (v.unheard) return;
        to->put([this, c, answer = std::move(answer)](tyer::engine::events*) mutable {
          calls().answer(*c, std::move(answer));
        });
      });
  if (!done) around().clock->due(c->deadline);
}

void memory_engine::do_acquire(const request& r, const call_ptr<answer>& c) {
  submit(c, full(r.what.name),
         [r = request{r}, owner = std::string{r.owner}](const store::visit& v) mutable -> result<answer> {
           if (v.age >= r.not_after) return kit::no_time_left();
           r.what.name = v.name;
           r.owner = owner;
           return v.names.acquire(v.name, r, v.now, v.out);
         });
}

void memory_engine::do_keep(std::span<const target> all, fate as, milliseconds ttl, const call_ptr<kept>& c) {
  std::vector<std::pair<id, std::string>> what;
  for (const target& t : all) what.emplace_back(t.who, full(t.name));
  submit(c, {}, [what = std::move(what), as, ttl](const store::visit& v) {
    kept k{{}, ttl};
    for (const auto& [who, name] : what) k.fates.push_back(v.names.keep(name, who, as, ttl, v.now, v.out));
    return k;
  });
}

void memory_engine::do_release(const target& t, bool clean, const call_ptr<fate>& c) {
  submit(c, full(t.name),
         [who = t.who, clean](const store::visit& v) { return v.names.release(v.name, who, clean, v.now, v.out); });
}

void memory_engine::do_convert(const target& t, mode to, milliseconds not_after, const call_ptr<answer>& c) {
  submit(c, full(t.name), [who = t.who, to, not_after](const store::visit& v) -> result<answer> {
    if (v.age >= not_after) return kit::no_time_left();
    return v.names.convert(v.name, who, to, v.now, v.out);
  });
}

void memory_engine::do_lift(const target& t, std::uint64_t part, const call_ptr<fate>& c) {
  submit(c, full(t.name),
         [who = t.who, part](const store::visit& v) { return v.names.lift(v.name, who, part, v.now, v.out); });
}

void memory_engine::do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  submit(c, full(name),
         [reason = std::string{reason}](const store::visit& v) { return v.names.ask(v.name, reason, v.now, v.out); });
}

void memory_engine::do_evict(const target& t, std::string_view reason, const call_ptr<fate>& c) {
  submit(c, full(t.name), [who = t.who, reason = std::string{reason}](const store::visit& v) {
    return v.names.evict(v.name, who, reason, v.now, v.out);
  });
}

void memory_engine::do_show(std::string_view name, const call_ptr<page>& c) {
  submit(c, full(name), [ours = around().prefix.size()](const store::visit& v) {
    return shortened(v.names.show(v.name, v.now), ours);
  });
}

void memory_engine::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                            const call_ptr<page>& c) {
  submit(c, full(prefix), [cursor = std::string{cursor}, limit, ours = around().prefix.size()](const store::visit& v) {
    return shortened(v.names.list(v.name, cursor, limit, v.now), ours);
  });
}

void memory_engine::do_watch(std::string_view name, bool on) {
  store_->watch(full(name), std::string{name}, box(), on);
}

void memory_engine::do_diagnose(const call_ptr<std::vector<finding>>& c) {
  submit(c, {}, [](const store::visit&) {
    return std::vector<finding>{{"memory:// locks inside this process only",
                                 "to exclude other processes use an engine that they reach too, like redis://", 0}};
  });
}

std::unique_ptr<engine::engine> make_engine(std::shared_ptr<store> s, const engine::environment& e) {
  return std::make_unique<memory_engine>(std::move(s), e);
}

}  // namespace tyer::memory

extern "C" TYER_EXPORT tyer::engine::made tyer_engine_memory(tyer::core::uri& address,
                                                             const tyer::engine::environment& e) {
  const bool more_than_a_name = address.hosts.size() > 1 || !address.path.empty() || !address.user.empty() ||
                                (!address.hosts.empty() && address.hosts.front().port != 0);
  if (more_than_a_name) return {nullptr, {tyer::errc::invalid_uri, "memory:// takes a name and nothing else"}};
  const std::string name = address.hosts.empty() ? std::string{} : address.hosts.front().host;
  return {tyer::memory::make_engine(tyer::memory::named_store(name, *e.clock), e), {}, address.shown()};
}
