// The parts of `tools/bench handoff`: many threads of few processes on one name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

using std::chrono::milliseconds;

// What one process did: the token of every turn, in order, and how long it took.
struct turns {
  std::vector<std::uint64_t> tokens;
  double seconds = 0;

  double per_second() const { return static_cast<double>(tokens.size()) / seconds; }
};

// `threads` of this process lock and unlock one mutex as fast as they can.
turns take_turns(const std::string& uri, int threads, std::uint32_t handoffs, milliseconds run);

// Several processes on one name, looked at only while all of them were there.
struct contest {
  std::vector<std::size_t> turns_of;  // by process
  double per_second = 0;
  std::size_t turns_per_grant_max = 0;  // of one grant of the engine: at most handoffs + 1
  std::size_t run_max = 0;              // turns of one process in a row

  double share_min_max() const;
};
// The processes find the server as this one did, by TYER_URI.
contest hold_contest(int processes, int threads, std::uint32_t handoffs, milliseconds run);

// A process of the contest: says that it is ready, waits for the word, and tells its tokens on standard output.
int be_contestant(const std::string& uri, int threads, std::uint32_t handoffs, milliseconds run);

}  // namespace bench
