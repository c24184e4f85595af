// The client's half of SASL DIGEST-MD5 (RFC 2831), as ZooKeeper's servers ask for it. A machine without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tyer::zookeeper::wire {

class digest_md5 {
 public:
  digest_md5(std::string user, std::string password, std::string_view host);

  // What to say to the challenge; nothing if it cannot be answered, or the server has not proven that it knows the password.
  std::optional<std::string> answer(std::string_view challenge);
  bool proven() const noexcept { return proven_; }

 private:
  std::optional<std::string> respond(std::string_view challenge);

  std::string user_, password_, nonce_;
  std::string expected_;  // from the server
  bool proven_ = false;
};

}  // namespace tyer::zookeeper::wire
