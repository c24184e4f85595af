// Several processes on one machine, as several machines would be: for the stories.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stories {

// What all processes see: atomics, made before they are.
template <class T>
T& in_shared_memory() {
  void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  return *new (memory) T{};
}

// Runs f(number) in each of so many processes, and waits for them. Call it before the process has other threads: each child is a
// program of its own, with its own clients and connections.
template <class F>
void in_processes(int count, const F& f) {
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    int code = 0;
    try {
      f(i);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      code = 1;
    }
    std::fflush(nullptr);
    _exit(code);
  }
  bool well = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!well) throw std::runtime_error("a process of the story has failed");
}

template <class F>
void in_threads(int count, const F& f) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
}

template <class T>
void raise_to(std::atomic<T>& highest, T value) {
  for (T seen = highest; seen < value && !highest.compare_exchange_weak(seen, value);) {}
}

using steady = std::chrono::steady_clock;  // the same for all processes of a machine

inline long ms_since(steady::time_point begun) {
  return static_cast<long>((steady::now() - begun) / std::chrono::milliseconds{1});
}

}  // namespace stories
