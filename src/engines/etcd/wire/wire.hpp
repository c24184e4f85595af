// gRPC over HTTP/2, which nobody beyond this folder has to know: calls, streams and timers, in bytes.
//
// A loop serves the connections of one engine. It is run by the thread that drives the engine; while that is away for longer
// than a timer can wait, a thread of its own stands in: for timers, and for what is `told::anywhere`.
//
// Thread safety: everything from any thread; run() from one at a time.
#pragma once

#include "core/clock.hpp"
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
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  unauthenticated = 16,
};
struct status {
  code is = code::ok;
  std::string words;
  bool sent = true;  // false: the server has certainly not begun with it

  bool ok() const { return is == code::ok; }
};

class loop {
 public:
  explicit loop(const core::clock&);
  loop(const loop&) = delete;
  ~loop();  // nobody is told any more; never waits for a name server

  // Sends what was asked for, and serves I/O until somebody was told something, that time, or wake(). False: somebody who was
  // told found no memory; the others were told all the same.
  bool run(lease_clock::time_point until);
  void wake() noexcept;

  class body;
  class turn;
  body& inside() { return *body_; }

 private:
  std::unique_ptr<body> body_;
};

// A way to one server. Connects when there is something to send, and again when that connection is lost.
class channel;
// One attempt may take that long once the address is known, and half a second at the least.
std::shared_ptr<channel> connect(loop&, const core::endpoint&, const config&, std::chrono::milliseconds attempt);
bool is_connecting(const channel&);  // looks up the address, or shakes hands; it has neither failed nor arrived

class under_way {
 public:
  virtual void cancel() = 0;  // it still comes back

 protected:
  ~under_way() = default;
};

// Where it is told what came: inside run(), or also on the thread that stands in.
enum class told { in_run, anywhere };

struct order {
  std::shared_ptr<channel> to;
  const char* method;  // of static duration
  std::string token;   // empty: none
  told where = told::in_run;
};

// Comes back once, never inline, at the latest when that time is over.
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

// Rings once, in run() or on the thread that stands in.
void after(loop&, std::chrono::nanoseconds, std::function<void()>);

}  // namespace tyer::etcd::wire
