// The smallest engine: it notes what it is asked, and answers when the test says so. On a clock that is moved by hand.
#pragma once

#include "engines/kit/engine_base.hpp"

#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tyer::kit {

using namespace std::chrono_literals;
using seam::answer;
using seam::fate;
using seam::kept;
using seam::mode;
using seam::outcome;
using seam::page;
using seam::target;

class hand_clock final : public core::clock {
 public:
  time_point now() const noexcept override { return now_; }
  bool flows() const noexcept override { return false; }
  void move(milliseconds d) { now_ = now_.load() + d; }

 private:
  std::atomic<time_point> now_{time_point{1000s}};
};

class pocket_engine final : public engine_base {
 public:
  struct plan {
    draining waits_for = draining::nothing;
    milliseconds drain_max{};
  };
  pocket_engine(const seam::environment& e, plan p)
      : engine_base(e, {.scheme = "pocket://",
                        .request_timeout = e.request_timeout,
                        .waits_for = p.waits_for,
                        .drain_max = p.drain_max}) {}
  ~pocket_engine() override { fall_silent(); }

  seam::capabilities can() const noexcept override { return able; }

  // As a server's thread would.
  void tell(seam::delivery d) { box()->put(std::move(d)); }
  void grant(std::size_t which) {
    tell([this, c = acquires.at(which)](seam::events*) { calls().answer<answer>(*c, answer{seam::granted{7, 1s}}); });
  }
  void free(std::size_t which) {
    tell([this, c = releases.at(which)](seam::events*) { calls().answer<fate>(*c, fate::holding); });
  }
  using engine_base::calls;
  using engine_base::closed;
  using engine_base::runtime;
  using engine_base::told;

  seam::capabilities able{.keep_batch = 3};
  std::vector<call_ptr<answer>> acquires, converts;
  std::vector<call_ptr<kept>> keeps;
  std::vector<call_ptr<fate>> releases, lifts, evictions;
  std::vector<call_ptr<page>> pages;
  std::vector<std::string> watched;
  int opened = 0, closings = 0, anew = 0, others = 0;
  std::vector<time_point> looked;
  time_point due = time_point::max();
  std::function<void()> when_due;
  std::vector<std::function<void()>> arriving;  // in receive(), which handles them itself
  bool lets_go = true;

 private:
  std::vector<seam::delivery> receive(time_point until) override {
    if (arriving.empty()) return engine_base::receive(until);
    for (const auto& one : std::exchange(arriving, {})) {
      try {
        calls().step(now(), one);
      } catch (const std::bad_alloc&) {
        lost_a_message();
      }
    }
    return box()->take_now();
  }
  void do_open() override { ++opened; }
  void do_acquire(const seam::request&, const call_ptr<answer>& c) override { acquires.push_back(c); }
  void do_keep(std::span<const target>, fate, milliseconds, const call_ptr<kept>& c) override { keeps.push_back(c); }
  void do_release(const target&, bool, const call_ptr<fate>& c) override { releases.push_back(c); }
  void do_convert(const target&, mode, milliseconds, const call_ptr<answer>& c) override { converts.push_back(c); }
  void do_lift(const target&, std::uint64_t, const call_ptr<fate>& c) override { lifts.push_back(c); }
  void do_ask(std::string_view, std::string_view, const call_ptr<std::uint32_t>&) override { ++others; }
  void do_evict(const target&, std::string_view, const call_ptr<fate>& c) override { evictions.push_back(c); }
  void do_show(std::string_view, const call_ptr<page>& c) override { pages.push_back(c); }
  void do_list(std::string_view, std::string_view, std::uint32_t, const call_ptr<page>& c) override {
    pages.push_back(c);
  }
  void do_watch(std::string_view name, bool) override { watched.emplace_back(name); }
  void do_diagnose(const call_ptr<std::vector<seam::finding>>&) override { ++others; }
  time_point next_due() const override { return due; }
  void on_time(time_point at) override {
    looked.push_back(at);
    if (at >= due && when_due) when_due();
  }
  void start_anew() override { ++anew; }
  void do_close() override { ++closings; }
  bool has_let_go(time_point) override { return lets_go; }
};

}  // namespace tyer::kit
