// The servers behind one engine: one of them, the master that sentinels name, or the masters of a cluster. Where a call goes
// is decided by its key.
//
// Thread safety: that of the loop.
#pragma once

#include "engines/redis/config.hpp"
#include "engines/redis/connection.hpp"
#include "engines/redis/loop.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::redis {

class deployment {
 public:
  virtual ~deployment() = default;

  // Told of a master that is (again) there: then everything is kept, so once too often is no harm; and when none is.
  virtual void open(connection::listener&) = 0;

  // words: as after EVALSHA sha1, so words[1] is a key. All keys of a call lie in one part.
  virtual void call(const script&, std::span<const std::string_view> words, then) = 0;
  virtual void refuse(engine::failure, then) = 0;  // comes back in the next turn

  // Keys of different parts must not be in one call. Without a cluster there is one part.
  virtual std::uint32_t part_of(std::string_view) const { return 0; }

  // The clock of the server that has this key.
  virtual const server_clock& clock(std::string_view key) const = 0;
  virtual void read_clocks() = 0;  // soon

  // Whether everything that the server of this key had answered before is also where `?replicas=` wants it. Nothing comes
  // back inline; a null pointer means yes.
  using confirmed = core::function<void(const engine::failure*), 64>;
  virtual void confirm(std::string_view key, confirmed) = 0;

  // For what concerns no key: listing and diagnosis. At least one, in an order that stays while nothing changes.
  virtual std::vector<connection*> masters() = 0;

  virtual void close(core::function<void()> done) = 0;
};

// What every deployment makes its connections from.
struct materials {
  config where;
  std::string inbox;
  std::chrono::milliseconds request_timeout;
  std::uint64_t seed;
  const core::clock* clock;
  log_hook log;

  connection::settings at(const core::endpoint& server, connection::use purpose) const {
    return {where.at(server), inbox, request_timeout, seed, clock, log, purpose};
  }
};

std::unique_ptr<deployment> make_one_server(loop&, materials);
std::unique_ptr<deployment> make_sentinel(loop&, materials);

}  // namespace tyer::redis
