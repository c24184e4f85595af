#include "contract/api/seam.hpp"

#include "core/uri.hpp"
#include "engine/table.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace contract {

using namespace std::chrono_literals;
using tyer::engine::entry;
using tyer::engine::fate;

namespace {

constexpr auto request_timeout = 2000ms;
constexpr auto give_up_after = 20s;

}  // namespace

struct seam::inside {
  struct deaf final : tyer::engine::events {
    void wake(const tyer::core::id&) override {}
    void suspect(const tyer::core::id&) override {}
    void gone(const tyer::core::id&) override {}
    void asked(const tyer::core::id&, std::string_view) override {}
    void changed(std::string_view) override {}
    void up(const tyer::engine::server_facts&) override {}
    void down(const tyer::engine::failure&) override {}
  };

  tyer::core::boot_clock clock;
  tyer::core::random_ids ids;
  deaf ears;
  std::unique_ptr<tyer::engine::engine> engine;

  // Asks until there is an answer, through outages. `call` is handed the reply.
  template <class T, class Call>
  T ask(Call call) {
    const auto limit = clock.now() + give_up_after;
    for (;;) {
      std::optional<std::variant<T, tyer::engine::failure>> answer;
      call([&answer](tyer::engine::outcome<T>&& o) { answer = std::move(o.result); });
      while (!answer) engine->run(clock.now() + 100ms);
      if (T* good = std::get_if<T>(&*answer)) return std::move(*good);
      const auto& f = std::get<tyer::engine::failure>(*answer);
      if (!tyer::core::passing(f.kind) || clock.now() > limit) throw std::runtime_error("seam: " + f.words);
      engine->run(clock.now() + 20ms);
    }
  }
};

namespace {

std::unique_ptr<tyer::engine::engine> make_engine(std::string_view uri, tyer::core::id_source& ids,
                                                  const tyer::core::clock& clock) {
  auto [address, wrong] = tyer::core::parse_uri(uri);
  if (wrong) throw std::runtime_error(wrong.words);
  auto prefix = address.take("prefix").value_or(address.find("protocol") ? "" : "tyer:");
  auto made = tyer::engine::make(std::move(address), {std::move(prefix), &ids, &clock, request_timeout, {}});
  if (made.error) throw std::runtime_error(made.error.words);
  return std::move(made.value);
}

}  // namespace

tyer::engine::capabilities engine_can(std::string_view uri) {
  tyer::core::boot_clock clock;
  tyer::core::random_ids ids;
  return make_engine(uri, ids, clock)->can();
}

seam::seam(std::string_view uri) : inside_(std::make_unique<inside>()) {
  inside_->engine = make_engine(uri, inside_->ids, inside_->clock);
  inside_->engine->open(inside_->ears);
}

seam::seam(seam&&) noexcept = default;

seam::~seam() {
  if (!inside_) return;
  bool closed = false;
  inside_->engine->close([&closed](tyer::engine::outcome<tyer::engine::done>&&) { closed = true; });
  const auto limit = inside_->clock.now() + 1s;
  while (!closed && inside_->clock.now() < limit) inside_->engine->run(limit);
}

std::vector<entry> seam::entries(std::string_view name) {
  return inside_->ask<tyer::engine::page>([&](auto reply) { inside_->engine->show(name, reply); }).entries;
}

std::vector<entry> seam::holding(std::string_view name) {
  auto all = entries(name);
  std::erase_if(all, [](const entry& e) { return e.what != fate::holding; });
  return all;
}

std::vector<entry> seam::waiting(std::string_view name) {
  auto all = entries(name);
  std::erase_if(all, [](const entry& e) { return e.what != fate::waiting; });
  return all;
}

fate seam::evict(const entry& e) {
  return inside_->ask<fate>(
      [&](auto reply) { inside_->engine->evict({e.who, e.name, e.how}, "a test wants it so", reply); });
}

}  // namespace contract
