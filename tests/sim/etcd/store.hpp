// A fake: what one etcd keeps, in a few maps. Keys with revisions, transactions, leases, and a history for watches.
//
// It is no etcd, and does only what Tyer's engines ask for; where it cannot do what it is asked it throws. It exists because a
// real server cannot be made to lose exactly this answer, and because time must stand still for a failure to be replayed.
// What it does is taken from etcd's documentation and held against a real one by the contract suites of the same engines.
#pragma once

#include "engines/etcd/rpc.pb.h"
#include "engines/etcd/wire/wire.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tyer::sim::etcd {

namespace pb = tyer::etcd::pb;
namespace wire = tyer::etcd::wire;

// Bugs of a server, planted to prove that the judge bites.
enum class lie : std::uint8_t {
  none,
  compares_nothing,         // every transaction succeeds
  deletes_whatever_is_new,  // a delete is not compared
  says_kept_and_keeps_not,  // of a lease
  leases_never_end,
  sorts_nothing,            // by the name of the key instead of its age
  revisions_run_backwards,  // after a restart
  tells_no_watcher,
};

class store {
 public:
  explicit store(const world& w, lie l = lie::none) : world_(w), lie_(l) {}

  pb::ResponseHeader header() const;
  wire::status range(const pb::RangeRequest&, pb::RangeResponse&) const;
  wire::status transact(const pb::TxnRequest&, pb::TxnResponse&);

  pb::LeaseGrantResponse grant(std::int64_t seconds);
  pb::LeaseKeepAliveResponse keep_alive(std::int64_t lease);
  pb::LeaseTimeToLiveResponse time_to_live(std::int64_t lease) const;
  void revoke(std::int64_t lease);
  void end_leases();    // those whose time is over: etcd looks twice a second
  void renew_leases();  // a new leader gives all of them their full time again
  void restarted();
  // A copy of the data as it is now, and the data as it was then: keys and revisions, and leases with their full time again.
  void save();
  bool restore();  // false: there is no copy

  void compact() { compacted_ = revision_; }
  std::int64_t compacted() const { return compacted_; }
  // What happened from that revision on, oldest first.
  std::vector<pb::Event> since(std::int64_t revision) const;

  const std::map<std::string, pb::KeyValue>& all() const { return keys_; }
  std::int64_t revision() const { return revision_; }

  // After every write, with what was there before.
  std::function<void(const std::map<std::string, pb::KeyValue>& before)> on_write;

 private:
  struct lease {
    std::int64_t seconds = 0;
    moment ends;
  };
  bool holds_true(const pb::Compare&) const;
  bool succeeds(const pb::TxnRequest&) const;
  wire::status check(const pb::TxnRequest&) const;
  wire::status transact(const pb::TxnRequest&, pb::TxnResponse&, std::int64_t revision);
  void put(const pb::PutRequest&, std::int64_t revision);
  std::int64_t remove(const std::string& from, const std::string& to, std::int64_t revision);
  void wrote(const std::map<std::string, pb::KeyValue>& before);

  struct copy {
    std::map<std::string, pb::KeyValue> keys;
    std::map<std::int64_t, lease> leases;
    std::int64_t revision = 0;
  };

  const world& world_;
  const lie lie_;
  std::optional<copy> saved_;
  std::map<std::string, pb::KeyValue> keys_;
  std::vector<pb::Event> history_;
  std::map<std::int64_t, lease> leases_;
  std::int64_t revision_ = 1000, compacted_ = 0, last_lease_ = 7'000'000;
};

}  // namespace tyer::sim::etcd
