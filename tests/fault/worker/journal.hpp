// What one worker writes into the history of its process.
#pragma once

#include "history/writer.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <cstdint>

namespace fault {

inline std::int64_t ns_of(tyer::lease_clock::time_point t) noexcept { return t.time_since_epoch().count(); }

// What is asked for.
struct wanted {
  std::uint16_t name = 0;
  mode how = mode::exclusive;
  std::uint8_t permits = 0, capacity = 0;
  std::uint8_t flags = 0;
  std::uint64_t converts = 0;  // the hold that is to change its mode
};

class journal {
 public:
  journal(history_writer& history, std::uint16_t worker) : history_(history), worker_(worker) {}

  void attempt(const wanted& w) {
    wanted_ = w;
    event e{.t_ns = now_ns(), .hold = w.converts, .what = op::attempt, .flags = w.flags};
    write(with_mode(e));
  }

  void missed(miss how, int code = 0) {
    write({.t_ns = now_ns(),
           .token = static_cast<std::uint64_t>(code),
           .what = op::not_granted,
           .outcome = static_cast<std::uint8_t>(how)});
  }

  // Without a failure it was contention.
  void missed(const tyer::failure& why) {
    if (!why) return missed(miss::empty);
    missed(why.code == tyer::errc::cancelled ? miss::cancelled : miss::failed, why.code.value());
  }

  void released(tyer::release_outcome how) {
    write({.t_ns = now_ns(), .what = op::released, .outcome = static_cast<std::uint8_t>(how)});
  }

  void write(event e) { write(e, wanted_.name); }
  // From any thread, while the worker may be asking for something else.
  void write(event e, std::uint16_t name) const {
    e.worker = worker_;
    e.name = name;
    history_.append(e);
  }

  event with_mode(event e) const {
    e.how = wanted_.how;
    e.permits = wanted_.permits;
    e.capacity = wanted_.capacity;
    return e;
  }

  std::uint16_t name() const { return wanted_.name; }
  mode how() const { return wanted_.how; }

 private:
  history_writer& history_;
  std::uint16_t worker_;
  wanted wanted_;
};

}  // namespace fault
