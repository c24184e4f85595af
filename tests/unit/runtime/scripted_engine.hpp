// An engine that does what a test says, when it says it.
//
// Why a fake: the tests here are about answers that are lost, late or in another order, on virtual time. No real server
// can be made to give them on demand. What servers really do is tested in tests/contract and tests/fault.
#pragma once

#include "core/clock.hpp"
#include "engine/engine.hpp"

#include <tyer/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::testing {

namespace seam = tyer::engine;
using core::fate;
using core::id;
using core::why;
using std::chrono::milliseconds;

class scripted_engine final : public seam::engine {
 public:
  explicit scripted_engine(const core::clock& c) : clock_(c) {}

  template <class T>
  struct call {
    seam::time_point sent;
    seam::reply<T> then;

    void answer(T value) { std::exchange(then, nullptr)({sent, std::move(value)}); }
    void fail(why kind, std::string words = {}) {
      std::exchange(then, nullptr)({sent, seam::failure{kind, {}, std::move(words)}});
    }
    // It has done a part of it, perhaps, and may not do the rest.
    void refuse_half_way() {
      std::exchange(then, nullptr)({sent, seam::failure{why::unknown, errc::refused, "may not"}});
    }
    bool answered() const { return !then; }
  };
  struct acquire_call : call<seam::answer> {
    seam::request what;
    std::string name, owner;
    void grant(std::uint64_t part) { answer(seam::granted{part, what.ttl}); }
    void queue(std::uint32_t ahead, milliseconds look_again) { answer(seam::queued{ahead, look_again}); }
    void busy(milliseconds hint) { answer(seam::busy{hint}); }
  };
  struct keep_call : call<seam::kept> {
    // As long as it was asked for, if nothing else is said.
    void answer(std::vector<fate> fates) { prove(std::move(fates), ttl); }
    void prove(std::vector<fate> fates, milliseconds proven) { call::answer(seam::kept{std::move(fates), proven}); }
    std::vector<id> who;
    fate as;
    milliseconds ttl;
  };
  struct release_call : call<fate> {
    id who;
    bool clean;
  };
  struct convert_call : call<seam::answer> {
    id who;
    seam::mode to;
    void grant(std::uint64_t part) { answer(seam::granted{part}); }
    void queue(milliseconds look_again) { answer(seam::queued{0, look_again}); }
    void busy() { answer(seam::busy{milliseconds{100}}); }
    void lost() { std::exchange(then, nullptr)({sent, seam::failure{why::refused, errc::lost, "no such hold"}}); }
  };

  std::vector<acquire_call> acquires;
  std::vector<keep_call> keeps;
  std::vector<release_call> releases;
  std::vector<convert_call> converts;
  std::vector<call<seam::page>> shows, lists;
  std::vector<call<std::uint32_t>> asks;
  std::vector<call<fate>> evictions;
  std::vector<call<std::vector<seam::finding>>> diagnoses;
  seam::events* events = nullptr;
  std::size_t keep_batch = 100;
  std::function<std::uint32_t(std::string_view)> where = [](std::string_view) { return 0; };

  // The seam. Calls are only noted down: answers never come inline.
  seam::capabilities can() const noexcept override {
    return {.queue = true, .shared = true, .push = true, .token = true, .convert = true, .keep_batch = keep_batch};
  }
  std::uint32_t group(std::string_view name) override { return where(name); }
  void open(seam::events& e) override { events = &e; }
  void acquire(const seam::request& r, seam::reply<seam::answer> then) override {
    acquires.push_back({{clock_.now(), std::move(then)}, r, std::string{r.what.name}, std::string{r.owner}});
    acquires.back().what.what.name = {};
    acquires.back().what.owner = {};
  }
  void keep(std::span<const seam::target> all, fate as, milliseconds ttl, seam::reply<seam::kept> then) override {
    std::vector<id> who;
    for (const auto& t : all) who.push_back(t.who);
    keeps.push_back({{clock_.now(), std::move(then)}, std::move(who), as, ttl});
  }
  void release(const seam::target& t, bool clean, seam::reply<fate> then) override {
    releases.push_back({{clock_.now(), std::move(then)}, t.who, clean});
  }
  void convert(const seam::target& t, seam::mode to, seam::milliseconds, seam::reply<seam::answer> then) override {
    converts.push_back({{clock_.now(), std::move(then)}, t.who, to});
  }
  void lift(const seam::target&, std::uint64_t, seam::reply<fate>) override {}
  void ask(std::string_view, std::string_view, seam::reply<std::uint32_t> then) override {
    asks.push_back({clock_.now(), std::move(then)});
  }
  void evict(const seam::target&, std::string_view, seam::reply<fate> then) override {
    evictions.push_back({clock_.now(), std::move(then)});
  }
  void show(std::string_view, seam::reply<seam::page> then) override {
    shows.push_back({clock_.now(), std::move(then)});
  }
  void list(std::string_view, std::string_view, std::uint32_t, seam::reply<seam::page> then) override {
    lists.push_back({clock_.now(), std::move(then)});
  }
  void watch(std::string_view, bool) override {}
  void diagnose(seam::reply<std::vector<seam::finding>> then) override {
    diagnoses.push_back({clock_.now(), std::move(then)});
  }
  void close(seam::reply<seam::done>) override {}
  void run(seam::time_point) override {}
  void wake() noexcept override {}

 private:
  const core::clock& clock_;
};

}  // namespace tyer::testing
