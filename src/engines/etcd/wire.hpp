// gRPC, which nobody beyond this file has to know: calls, streams and timers, in bytes.
//
// Moments are told by a clock that nobody sets: a wall clock that jumps would make them hours late.
// Thread safety: everything from any thread. What is given to be called is called from a thread of gRPC's.
#pragma once

#include "core/uri.hpp"
#include "engines/etcd/config.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace tyer::etcd::wire {

// With gRPC's numbers.
enum class code {
  ok = 0,
  cancelled = 1,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  unavailable = 14,
  unauthenticated = 16,
};
struct status {
  code is = code::ok;
  std::string words;

  bool ok() const { return is == code::ok; }
};

// A way to one server. Connects by itself, again and again.
class channel;
// One attempt may take that long, and half a second at the least.
std::shared_ptr<channel> connect(const core::endpoint&, const config&, std::chrono::milliseconds attempt);
bool is_connecting(const channel&);  // looks up the address, or shakes hands; it has neither failed nor arrived

class under_way {
 public:
  virtual void cancel() = 0;  // it still comes back

 protected:
  ~under_way() = default;
};

struct order {
  std::shared_ptr<channel> to;
  const char* method;  // of static duration
  std::string token;   // empty: none
};

// Comes back once, at the latest when that time is over.
std::shared_ptr<under_way> call(const order&, const std::string& request, std::chrono::nanoseconds within,
                                std::function<void(status, std::string response)>);

// A call in both directions. After its end nothing more comes, and what is sent goes nowhere.
class stream : public under_way {
 public:
  virtual void send(const std::string&) = 0;

 protected:
  ~stream() = default;
};
std::shared_ptr<stream> start(const order&, std::function<void(std::string)> on_message,
                              std::function<void(status)> on_end);

void after(std::chrono::nanoseconds, std::function<void()>);

}  // namespace tyer::etcd::wire
