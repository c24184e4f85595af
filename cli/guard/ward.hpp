// The guarded command as the keeper sees it: the keeper starts it under a hold, sends deadlines, and is told when it has
// ended.
#pragma once

#include "guard/note.hpp"

#include <tyer/clock.hpp>
#include <tyer/hold.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace cli {

class ward {
 public:
  struct result {
    ending how;
    int number;  // as in word::ended
  };

  explicit ward(line to_guardian);
  ~ward();

  // Runs the command once, and returns when it and its descendants are gone. `start_by`: the latest time to start it.
  // `inside`: what a `tyer run` in it is told (see run/outer.hpp).
  result run(const tyer::hold&, std::chrono::milliseconds ttl, std::optional<tyer::lease_clock::time_point> start_by,
             const std::string& inside);

  // Requested by a signal that came while no command ran.
  std::stop_token cancelled() const noexcept { return cancel_.get_token(); }
  int cancelled_by() const noexcept { return signal_; }

 private:
  void listen(const std::stop_token&);
  void hear(const note&);
  void pass_signals_on();

  line line_;
  int signals_;  // the lock shows our pid, so people may signal it
  std::stop_source cancel_;
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<result> ended_;
  std::jthread listener_;
};

}  // namespace cli
