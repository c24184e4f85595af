// What one worker writes into the history of its process.
#pragma once

#include "history/writer.hpp"

#include <tyer/error.hpp>
#include <tyer/hold.hpp>

#include <cstdint>

namespace fault {

inline std::int64_t ns_of(tyer::lease_clock::time_point t) noexcept { return t.time_since_epoch().count(); }

class journal {
 public:
  journal(history_writer& history, std::uint16_t worker) : history_(history), worker_(worker) {}

  void attempt(std::uint16_t name) {
    name_ = name;
    history_.append({.t_ns = now_ns(), .worker = worker_, .name = name, .what = op::attempt});
  }

  void missed(miss how, int code = 0) {
    history_.append({.t_ns = now_ns(),
                     .token = static_cast<std::uint64_t>(code),
                     .worker = worker_,
                     .name = name_,
                     .what = op::not_granted,
                     .outcome = static_cast<std::uint8_t>(how)});
  }

  // Without a failure it was contention, or the time limit.
  void missed(const tyer::failure& why) {
    if (!why || why.code == tyer::errc::timed_out) return missed(miss::empty);
    missed(why.code == tyer::errc::cancelled ? miss::cancelled : miss::failed, why.code.value());
  }

  void released(tyer::release_outcome how) {
    history_.append({.t_ns = now_ns(),
                     .worker = worker_,
                     .name = name_,
                     .what = op::released,
                     .outcome = static_cast<std::uint8_t>(how)});
  }

  void write(event e) {
    e.worker = worker_;
    e.name = name_;
    history_.append(e);
  }

  std::uint16_t name() const { return name_; }

 private:
  history_writer& history_;
  std::uint16_t worker_;
  std::uint16_t name_ = 0;
};

}  // namespace fault
