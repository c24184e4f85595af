// The hosts of a URI and their addresses: libpq would look names up itself, and stop the client's thread meanwhile.
//
//   hosts      left by
//   idle       look_up()
//   under way  idle: told, or forgotten
//
// libpq waits for the first address for as long as that is silent: whoever gave up there passes on.
//
// A name that nobody can tell holds up the others for one round only: after that the first answer is enough.
//
// Thread safety: that of the box's loop.
#pragma once

#include "core/hosts.hpp"
#include "core/uri.hpp"
#include "engine/inbox.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tyer::postgres {

class hosts {
 public:
  // As libpq has them: lists with commas, an entry for each address.
  struct known {
    std::string host, hostaddr, port;
    std::string why_not;  // there is no address
  };
  using then = std::function<void(known)>;

  hosts(std::vector<core::endpoint> all, std::shared_ptr<engine::inbox> box)
      : all_(std::move(all)), box_(std::move(box)) {}
  ~hosts() { forget(); }
  hosts(const hosts&) = delete;

  void look_up(then);  // told by the box, never inside this call
  void forget() noexcept;
  void pass_on() noexcept { ++first_; }  // the next address has its turn

 private:
  class asker;
  struct one {
    std::shared_ptr<asker> by;  // null: no name
    std::shared_ptr<const core::found_hosts> found;
  };

  void told();
  known what_is_known() const;

  const std::vector<core::endpoint> all_;
  const std::shared_ptr<engine::inbox> box_;
  std::vector<one> round_;  // of each host
  then then_;
  std::size_t first_ = 0;  // of the addresses
  bool hurried_ = false;   // a round was not answered in time, and none has been since
};

}  // namespace tyer::postgres
