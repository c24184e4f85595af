// Watches one hold from the return of acquire to its release, and writes down what it sees.
#pragma once

#include "worker/journal.hpp"

#include <tyer/hold.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace fault {

class witness {
 public:
  // To be made right after acquire has returned, and destroyed before the hold is.
  witness(journal& j, const tyer::hold& h, std::uint64_t number);
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;

  // Looks at the hold and writes it down. True if it was valid.
  bool look() { return look(op::observed); }

  // The owner was let in again, by a call that began then: as good as a look that found it valid.
  void came_in_again(std::int64_t began);

  // To be called right before the release. lost() is not listened to any more.
  void releasing();

  std::uint64_t number() const { return number_; }
  std::uint64_t token() const { return token_; }
  std::uint16_t name() const { return name_; }
  mode how() const { return how_; }
  std::uint16_t slots() const { return slots_; }

 private:
  bool look(op what);
  void lost();

  journal& journal_;
  const tyer::hold& hold_;
  const std::uint64_t number_, token_;
  const std::uint16_t name_;
  const mode how_;
  const std::uint16_t slots_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<bool> registering_ = true;
  std::optional<std::stop_callback<std::function<void()>>> callback_;
};

}  // namespace fault
