// A server, or a deployment, of the test's own, of the kind that the tests run under, to be killed, paused and given passwords.
#pragma once

#include <cstdint>
#include <string>

namespace tyer::test {

// For sentinels: a machine that stands still for a second is not taken for a server that died.
inline constexpr char patient_sentinels[] = "--set down-after-milliseconds=2500 ";

class own_server {
 public:
  explicit own_server(const std::string& options = {});
  ~own_server();
  own_server(const own_server&) = delete;

  const std::string& uri() const { return uri_; }
  const std::string& folder() const { return folder_; }
  // All of it, or of several servers those named: see tools/engines --help. Answers the names that stay.
  std::string kill(const std::string& members = {}) { return tell("kill", members); }
  std::string restart(const std::string& members = {}) { return tell("restart", members); }
  std::string pause(const std::string& members = {}) { return tell("pause", members); }
  std::string resume(const std::string& members = {}) { return tell("resume", members); }
  std::string failover(const std::string& member = {}) { return tell("failover", member); }
  // By so many seconds the server's clock is ahead from now on, of one server that was started with --clock-shift. What
  // `tools/engines clock` does, but at once: see tools/lib/clock_shift.py.
  void shift_clock(std::int64_t seconds);
  void wait() { tell("wait"); }  // until they are in order among themselves
  int port_of(const std::string& role);

 private:
  std::string tell(const std::string& verb, const std::string& members = {});

  std::string uri_, id_, folder_;
};

}  // namespace tyer::test
