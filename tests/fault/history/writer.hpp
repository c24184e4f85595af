// Writes a history that survives kill -9: a file mapped into memory, to which lines are only ever added.
#pragma once

#include "history/event.hpp"

#include <cstddef>
#include <string>

namespace fault {

// Thread safety: append() may be called from any thread; it takes no lock and makes no system call, so that writing
// history does not change what it tells.
class history_writer {
 public:
  // Makes the file. Space is only used as lines are written, so the capacity can be generous. Throws std::system_error.
  explicit history_writer(const std::string& path, std::size_t capacity = 1 << 21);
  history_writer(const history_writer&) = delete;
  history_writer& operator=(const history_writer&) = delete;
  ~history_writer();

  // Fills in pid. Aborts when the file is full: a history with a hole proves nothing.
  void append(event e) noexcept;

 private:
  history_header* header_;
  event* lines_;
  std::size_t bytes_;
  std::uint32_t pid_;
};

}  // namespace fault
