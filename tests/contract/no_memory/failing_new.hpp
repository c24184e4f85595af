// Makes one allocation fail. This program has its own operator new.
#pragma once

namespace tyer::test {

enum class whose { calling_thread, clients_threads };

// While it lives, the n-th allocation of those threads fails, and no other.
class failing_new {
 public:
  failing_new(whose w, int n);
  ~failing_new();
  failing_new(const failing_new&) = delete;

  bool failed() const;  // it came to that
};

}  // namespace tyer::test
