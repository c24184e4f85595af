// Where Go's keys of a name lie, and who stands behind them: PREFIX NAME / LEASE, the lease in hex.
//
// Names are raw, as in Go. There the keys of `a/b` are also keys of `a`; here a key belongs to one name only, that before
// its last slash. Whoever is first among fewer keys is no less the first of its own name.
#pragma once

#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tyer::etcd::go {

class layout {
 public:
  explicit layout(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string key(std::string_view name, std::int64_t lease) const;
  key_range room(std::string_view name) const;                   // all keys of the name, and perhaps others
  key_range beginning_with(std::string_view name_prefix) const;  // all keys of names that begin so, and perhaps others
  // The name, if it is a key of a lock.
  std::optional<std::string> name_of(std::string_view key) const;

 private:
  std::string prefix_;
};

// One key of a name.
struct place {
  id who;  // of a program in Go: made of the key's lease and create revision
  std::string key;
  std::int64_t created = 0, modified = 0, lease = 0;
  std::optional<pb::Record> record;  // nothing: not Tyer's

  std::uint64_t part() const { return static_cast<std::uint64_t>(created) * places_per_revision; }
};

// In the order of the queue: the first holds. A key that no lease will end is no lock's.
std::variant<std::vector<place>, failure> read(const layout&, std::string_view name, const pb::RangeResponse&);

}  // namespace tyer::etcd::go
