// For those whose data lies in the same etcd as their locks: the hold is checked by the transaction that writes.
//
// Needs no gRPC: the comparison is plain data, to be put into the transaction of whatever client you have.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>
#include <tyer/hold.hpp>

#include <cstdint>
#include <string>

namespace tyer {
inline namespace v1 {
namespace etcd {

// One comparison of a transaction of etcd's: target CREATE, result EQUAL. True for as long as the hold is.
//
//   in etcd's API                                    | in etcdctl txn
//   -------------------------------------------------+---------------------------------
//   Compare{key, target: CREATE, result: EQUAL,      | create("<key>") = "<create_revision>"
//           create_revision}                         |
struct comparison {
  std::string key;
  std::int64_t create_revision = 0;

  friend bool operator==(const comparison&, const comparison&) = default;
};

// The comparison for your own transaction: it is applied only while this hold is there. What was lost, broken or released
// never writes, however late; nobody's token has to be stored. A renewal, a conversion or a question does not change it.
//
// Hand-offs inside a client go on with the engine's hold, so it stays true until the last of them gives it back: use it only
// while you have the hold.
//
// Throws errc::not_held for an empty hold, errc::forked in a child of fork, errc::unsupported if it is not of etcd.
TYER_EXPORT comparison guard_txn(const hold& h);

}  // namespace etcd
}  // namespace v1
}  // namespace tyer
