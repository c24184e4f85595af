#include "history/writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

namespace fault {

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error{errno, std::generic_category(), what}; }

}  // namespace

history_writer::history_writer(const std::string& path, std::size_t capacity)
    : bytes_(sizeof(history_header) + capacity * sizeof(event)), pid_(static_cast<std::uint32_t>(::getpid())) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail(path);
  if (::ftruncate(file, static_cast<off_t>(bytes_)) != 0) fail(path);
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail(path);
  ::close(file);
  header_ = new (memory) history_header;
  header_->capacity = capacity;
  lines_ = reinterpret_cast<event*>(static_cast<char*>(memory) + sizeof(history_header));
}

history_writer::~history_writer() { ::munmap(header_, bytes_); }

void history_writer::append(event e) noexcept {
  const auto at = std::atomic_ref{header_->next}.fetch_add(1, std::memory_order_relaxed);
  if (at >= header_->capacity) {
    std::fputs("history: the file is full\n", stderr);
    std::abort();
  }
  // The op is written last: a line without one was cut off half-way and is skipped by the reader.
  const op what = e.what;
  e.what = op::none;
  e.pid = pid_;
  lines_[at] = e;
  std::atomic_ref{lines_[at].what}.store(what, std::memory_order_release);
}

}  // namespace fault
