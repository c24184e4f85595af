// A server of the test's own, of the kind that the tests run under, to be killed, paused and given passwords.
#pragma once

#include <string>

namespace tyer::test {

class own_server {
 public:
  explicit own_server(const std::string& options = {});
  ~own_server();
  own_server(const own_server&) = delete;

  const std::string& uri() const { return uri_; }
  const std::string& folder() const { return folder_; }
  void kill() { tell("kill"); }
  void restart() { tell("restart"); }
  void pause() { tell("pause"); }
  void resume() { tell("resume"); }

  // tools/engines VERB ID MORE; what it prints.
  std::string tell(const std::string& verb, const std::string& more = {}) const;

 private:
  std::string uri_, id_, folder_;
};

}  // namespace tyer::test
