// An engine without its protocol: the loop, the calls, closing. An engine implements the requests (do_…) and answers each call
// with calls().answer() or fail(); other threads do that through the inbox.
//
//   where is a call …     |
//   ----------------------+------------------------------------------------------------------------------------------------
//   dated                 | here, when it is made (`sent`); the engine may set `counts_from`
//   refused               | here: the engine was closed, or can() says no
//   timed out             | in run(), by `calls`
//   answered              | in run(), by `calls`, after the engine has called calls().answer()
//   given up at the end   | in run(), after close(): at once, or when the engine has had its time to finish
//
// run() delivers one message after the other. A message that runs out of memory is lost, the others are still delivered, and
// start_anew() is called at the start of the next run().
#pragma once

#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/inbox.hpp"
#include "engines/kit/calls.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::kit {

namespace seam = tyer::engine;

// Which calls close() waits for, before it answers the rest as unknown.
enum class draining : std::uint8_t { nothing, what_gives_back, everything };

class engine_base : public seam::engine {
 public:
  void open(seam::events&) final;
  void acquire(const seam::request&, reply<seam::answer>) final;
  void keep(std::span<const seam::target>, seam::fate as, milliseconds ttl, reply<seam::kept>) final;
  void confirm(const seam::target&, milliseconds ttl, reply<seam::kept>) final;
  void release(const seam::target&, bool clean, reply<seam::fate>) final;
  void convert(const seam::target&, seam::mode to, milliseconds not_after, reply<seam::answer>) final;
  void lift(const seam::target&, std::uint64_t part, reply<seam::fate>) final;
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) final;
  void evict(const seam::target&, std::string_view reason, reply<seam::fate>) final;
  void show(std::string_view name, reply<seam::page>) final;
  void look(std::string_view name, bool waiters, reply<seam::page>) final;
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<seam::page>) final;
  void watch(std::string_view name, bool on) final;
  void diagnose(reply<std::vector<seam::finding>>) final;
  void close(reply<seam::done>) final;

  void run(time_point until) final;
  void wake() noexcept override { box_->wake(); }

 protected:
  struct setting {
    std::string_view scheme;       // of its URIs, for people: "memory://"
    milliseconds request_timeout;  // of a call
    draining waits_for = draining::nothing;
    milliseconds drain_max{};  // how long close() waits for them
  };
  engine_base(const seam::environment& e, const setting& s,
              std::shared_ptr<seam::inbox> box = std::make_shared<seam::inbox>());

  // --- the requests. Views are valid during the call only; every call is under way, and can() allows it.

  virtual void do_open() = 0;
  virtual void do_acquire(const seam::request&, const call_ptr<seam::answer>&) = 0;
  virtual void do_keep(std::span<const seam::target>, seam::fate as, milliseconds ttl, const call_ptr<seam::kept>&) = 0;
  virtual void do_confirm(const seam::target& t, milliseconds ttl, const call_ptr<seam::kept>& c) {
    do_keep({&t, 1}, seam::fate::holding, ttl, c);
  }
  virtual void do_release(const seam::target&, bool clean, const call_ptr<seam::fate>&) = 0;
  virtual void do_convert(const seam::target&, seam::mode, milliseconds /*not_after*/, const call_ptr<seam::answer>&) {}
  virtual void do_lift(const seam::target&, std::uint64_t /*part*/, const call_ptr<seam::fate>&) {}
  virtual void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) = 0;
  virtual void do_evict(const seam::target&, std::string_view reason, const call_ptr<seam::fate>&) = 0;
  virtual void do_show(std::string_view name, const call_ptr<seam::page>&) = 0;
  virtual void do_look(std::string_view name, bool /*waiters*/, const call_ptr<seam::page>& c) { do_show(name, c); }
  virtual void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                       const call_ptr<seam::page>&) = 0;
  virtual void do_watch(std::string_view /*name*/, bool /*on*/) {}
  virtual void do_diagnose(const call_ptr<std::vector<seam::finding>>&) = 0;

  // --- when

  // Waits for messages, wake() or `until`, and returns the messages. An engine with an event loop of its own overrides this and
  // wake(). It may also handle messages itself, each in a step of its own (calls::step); if one of them ran out of memory, it
  // calls lost_a_message().
  virtual std::vector<seam::delivery> receive(time_point until) { return box_->take(real(until)); }
  void lost_a_message() noexcept { whole_ = false; }
  seam::inbox::deadline real(time_point until) const;  // for one who waits on the clock of the standard library
  virtual time_point next_due() const { return time_point::max(); }
  virtual void on_time(time_point /*now*/) {}  // in every run(), after its messages were delivered
  // Memory ran out in the middle of a step: called at the start of the next run(), and again if it throws. It is not called for
  // a do_… that threw when the runtime called it: that must leave the engine's state consistent by itself.
  virtual void start_anew() {}

  // --- the end

  virtual void do_close() {}  // close() was called; calls may still be under way
  // Called in every run() once no call is under way, until it is true: then the engine itself has nothing under way either.
  // next_due() must say when it will be. The runtime waits 200 ms for all of this, and then destroys the engine.
  virtual bool has_let_go(time_point /*now*/) { return true; }

  // For the destructor of every engine, after its threads have ended: no reply and no event is delivered any more. Calls and messages
  // that still wait refer to its members.
  void fall_silent();

  kit::calls& calls() noexcept { return calls_; }
  const std::shared_ptr<seam::inbox>& box() const noexcept { return box_; }
  const seam::environment& around() const noexcept { return environment_; }
  time_point now() const noexcept { return environment_.clock->now(); }
  bool closed() const noexcept { return closed_; }
  void warn(std::string_view words) const {
    if (environment_.log) environment_.log(log_level::warning, words);
  }
  seam::events* told() const noexcept { return closed_ ? nullptr : events_; }  // null after close()
  seam::events& runtime() const noexcept;  // the same, but after close() one that ignores all it is told

 private:
  template <class T, class F>
  void take(reply<T>&& back, std::optional<failure> objection, F start);
  std::optional<failure> objection(const seam::request&) const;
  std::optional<failure> unless(bool able, std::string_view cannot) const;
  template <class F>
  bool survives(time_point at, F what);
  void drain(time_point at);
  void finish_close(time_point at);
  time_point waiting_until(time_point until) const;

  const seam::environment environment_;
  const setting setting_;
  const std::shared_ptr<seam::inbox> box_;
  kit::calls calls_;
  seam::events* events_ = nullptr;
  bool whole_ = true, stumbled_ = false, closed_ = false, given_up_ = false;
  time_point drained_by_ = time_point::max();
  reply<seam::done> closing_;
};

}  // namespace tyer::kit
