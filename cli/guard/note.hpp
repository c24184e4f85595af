// The messages between the three processes of `tyer run`: one note is one packet of a SOCK_SEQPACKET pair, so none is ever
// read in part, and the end of a process is an end of file.
//
//   keeper  ── start, valid_until, stop, ask ──▶ guardian ── signal, resume ◀── front
//           ◀── cancel, ended ────────────────             ── paused, lost ──▶
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

enum class word : std::uint32_t {
  // from the keeper, which has the lock
  start,        // when: valid_until; by: start not later than this (0: any time); the text is the environment to add
  valid_until,  // when
  stop,         // the lock is lost
  ask,          // somebody asked for the lock: SIGTERM, and no more
  // from the front, which the shell has started
  signal,  // number; by: 1 if the terminal sent it to the whole foreground group. The keeper may send it too
  resume,  // the shell continues us
  // to the keeper
  cancel,  // number: the signal that ends the waiting
  ended,   // number: a wait status, or an errno; by: an `ending`
  // to the front
  paused,  // the command was stopped, in a process group of its own
  lost,    // the lock was lost, and the command and its descendants are gone
};

// How the command came to an end.
enum class ending : std::int64_t {
  by_itself,    // number is its wait status
  stopped,      // before the lock was lost: its wait status
  not_started,  // exec failed: errno
  too_late,     // the time to start it was over
};

struct note {
  word what{};
  std::int32_t number = 0;
  std::int64_t when = 0, by = 0;  // nanoseconds of lease_clock
};

// One end of a pair; closed with it.
class line {
 public:
  explicit line(int fd) noexcept : fd_(fd) {}
  line(line&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  line& operator=(line&&) = delete;
  ~line() { hang_up(); }

  int fd() const noexcept { return fd_; }
  bool open() const noexcept { return fd_ >= 0; }
  void hang_up() noexcept;

  // Never blocks: a note is dropped if the receiver has not read for very long. From any thread.
  bool send(const note&, std::string_view text = {}) const noexcept;

  enum class state { told, nothing_yet, ended };
  // Never blocks.
  state receive(note&, std::string* text = nullptr) const;

 private:
  int fd_;
};

struct two_lines {
  line one, other;
};
two_lines connect_lines();

}  // namespace cli
