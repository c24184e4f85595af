// A client of the real etcd engine on the fake, with nothing left to chance: a test says what becomes of each request.
#pragma once

#include "engines/etcd/go/engine.hpp"
#include "engines/etcd/locks/engine.hpp"
#include "sim/etcd/fake_etcd.hpp"
#include "sim/etcd/order_judge.hpp"
#include "sim/etcd/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tyer::sim::etcd {

namespace seam = tyer::engine;
using seam::answer;
using seam::mode;
using seam::outcome;

inline constexpr milliseconds timeout = 1s;
inline constexpr milliseconds ttl = 6s, waiter_ttl = 3s;

// One engine, and its loop on virtual time.
class one_client final : seam::events {
 public:
  using more = std::function<void(tyer::etcd::config&)>;
  enum class layout : std::uint8_t { tyers, gos };
  one_client(world& w, fake_etcd& f, std::vector<one_client*>& all, const more& add = {}, duration patience = 20s,
             layout l = layout::tyers)
      : world_(w), fake_(f), all_(all), index_(all.size()), clock_{w}, ids_{index_} {
    const auto index = index_;
    all_.push_back(this);
    f.acting = index;
    tyer::etcd::config c;
    c.servers.push_back({std::to_string(index), 0});
    if (add) add(c);
    const seam::environment e{prefix, &ids_, &clock_, timeout,
                              [this](log_level, std::string_view words) { said.emplace_back(words); }};
    if (l == layout::tyers) {
      engine_ = std::make_unique<tyer::etcd::etcd_engine>(c, e);
    } else {
      engine_ = std::make_unique<tyer::etcd::go::go_engine>(c, e);
    }
    engine_->open(*this);
    run_until([this] { return ups_ > 0; }, patience);
  }

  seam::engine& raw() { return *engine_; }
  int ups() const { return ups_; }
  id next_id() { return ids_.next(); }
  void destroy() { engine_.reset(); }

  // Time goes on, in small steps, until then.
  bool run_until(const std::function<bool()>& ready, duration patience = 20s, duration step = 200us) {
    const auto end = world_.now() + patience;
    while (!ready() && world_.now() < end) {
      world_.run_until(world_.now() + step);
      for (auto* each : all_) each->run();
    }
    return ready();
  }
  void run_for(duration d) {
    const auto end = world_.now() + d;
    run_until([&] { return world_.now() >= end; }, d, std::min<duration>(d / 20, 5ms));
  }
  void run() {
    if (!engine_ || stands_still) return;
    fake_.acting = index_;
    engine_->wake();
    around_run ? around_run([this] { engine_->run(world_.now()); }) : engine_->run(world_.now());
  }

  template <class T, class F>
  outcome<T> call(F start) {
    auto box = std::make_shared<std::optional<outcome<T>>>();
    fake_.acting = index_;
    start(seam::reply<T>{[box](outcome<T>&& o) {
      EXPECT_FALSE(box->has_value()) << "a second reply";
      *box = std::move(o);
    }});
    EXPECT_TRUE(run_until([&] { return box->has_value(); })) << "no reply";
    return std::move(**box);
  }

  seam::request wants(const id& who, bool enqueue = false, mode how = mode::exclusive) const {
    seam::request r;
    r.what = {who, "order", how};
    r.ttl = ttl;
    r.waiter_ttl = waiter_ttl;
    r.not_after = timeout;
    r.enqueue = enqueue;
    return r;
  }
  outcome<answer> acquire(const id& who, bool enqueue = false, mode how = mode::exclusive) {
    return call<answer>([&](auto reply) { engine_->acquire(wants(who, enqueue, how), std::move(reply)); });
  }
  outcome<fate> release(const id& who) {
    return call<fate>([&](auto reply) { engine_->release({who, "order"}, true, std::move(reply)); });
  }
  outcome<seam::kept> keep(const id& who, fate as = fate::holding) {
    const seam::target t{who, "order"};
    return call<seam::kept>(
        [&](auto reply) { engine_->keep({&t, 1}, as, as == fate::holding ? ttl : waiter_ttl, std::move(reply)); });
  }

  outcome<seam::kept> confirm(const id& who) {
    return call<seam::kept>([&](auto reply) { engine_->confirm({who, "order"}, ttl, std::move(reply)); });
  }

  bool stands_still = false;  // its loop; the wire does not
  std::function<void(const std::function<void()>&)> around_run;
  std::vector<id> woken, suspected, lost, questioned;
  std::vector<std::string> said;   // to its log
  std::vector<std::string> downs;  // why
  std::string version;             // of the server that it is with

 private:
  struct own_clock final : core::clock {
    explicit own_clock(const world& w) : time(w) {}
    moment now() const noexcept override { return time.now(); }
    bool flows() const noexcept override { return false; }
    const world& time;
  };
  struct own_ids final : core::id_source {
    explicit own_ids(std::uint64_t n) : number(n + 1) {}
    std::uint64_t nonce() const noexcept override { return number; }
    core::id next() override {
      core::id i;
      const std::uint64_t serial = ++count;
      std::memcpy(i.bytes.data(), &number, sizeof number);
      std::memcpy(i.bytes.data() + sizeof number, &serial, sizeof serial);
      return i;
    }
    std::uint64_t number, count = 0;
  };

  void wake(const id& who) override { woken.push_back(who); }
  void suspect(const id& who) override { suspected.push_back(who); }
  void gone(const id& who) override { lost.push_back(who); }
  void asked(const id& who, std::string_view) override { questioned.push_back(who); }
  void changed(std::string_view) override {}
  void up(const seam::server_facts& f) override {
    ++ups_;
    version = f.version;
  }
  void down(const seam::failure& f) override { downs.push_back(f.words); }

  world& world_;
  fake_etcd& fake_;
  std::vector<one_client*>& all_;  // time goes on for everybody
  const std::size_t index_;
  own_clock clock_;
  own_ids ids_;
  int ups_ = 0;
  std::unique_ptr<seam::engine> engine_;
};

inline const seam::granted* granted_in(const outcome<answer>& o) {
  const auto* a = std::get_if<answer>(&o.result);
  return a != nullptr ? std::get_if<seam::granted>(a) : nullptr;
}
inline const seam::queued* queued_in(const outcome<answer>& o) {
  const auto* a = std::get_if<answer>(&o.result);
  return a != nullptr ? std::get_if<seam::queued>(a) : nullptr;
}
inline const seam::failure* failure_in(const outcome<answer>& o) { return std::get_if<seam::failure>(&o.result); }

using messages = std::map<std::string, int>;  // by method

struct etcd_scripted : ::testing::Test {
  explicit etcd_scripted(lie server = lie::none) : data{time, server} {
    data.on_write = [this](const auto& before) { judge.look(before, data.all()); };
    fake.on_call = [this](const exchange& e) { ++sent[std::string{e.method}]; };
  }
  ~etcd_scripted() override {
    for (const auto& line : time.violations()) ADD_FAILURE() << line;
  }

  bool is_written(const id& who) const { return where_is(who).has_value(); }
  std::optional<std::string> where_is(const id& who) const {  // its key
    for (const auto& [key, kv] : data.all()) {
      const auto record = tyer::etcd::read_value(kv.value());
      if (record && record->id() == who.view()) return key;
    }
    return std::nullopt;
  }

  // What it costs, in messages to the server.
  messages cost(const std::function<void()>& act) {
    sent.clear();
    act();
    return sent;
  }

  world time{false};
  store data;
  fake_etcd fake{time, data};
  order_judge judge{time, prefix};
  messages sent;
  std::vector<one_client*> all;
  one_client a{time, fake, all}, b{time, fake, all};
};

}  // namespace tyer::sim::etcd
