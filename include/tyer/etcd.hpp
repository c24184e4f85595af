// For data that lies in the same etcd as its locks: the transaction that writes checks the hold.
//
// Needs no gRPC: the comparison is plain data, for a transaction of any etcd client.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>
#include <tyer/hold.hpp>

#include <cstdint>
#include <string>

namespace tyer {
inline namespace v1 {
namespace etcd {

// One comparison for an etcd transaction: target CREATE, result EQUAL. True for as long as the hold exists.
//
//   in etcd's API                                    | in etcdctl txn
//   -------------------------------------------------+---------------------------------
//   Compare{key, target: CREATE, result: EQUAL,      | create("<key>") = "<create_revision>"
//           create_revision}                         |
struct comparison {
  std::string key = {};
  std::int64_t create_revision = 0;

  friend bool operator==(const comparison&, const comparison&) = default;
};

// The comparison for your own transaction, which is then applied only while this hold exists. A hold that was lost, broken or
// released never writes, however late; no token has to be stored. A renewal, a conversion or client::ask does not change the
// comparison.
//
// Hand-offs inside a client keep the engine's hold, so the comparison stays true until the last of them releases it: use it
// only while you have the hold.
//
// Throws errc::not_held for an empty hold, errc::forked in a child of fork, errc::unsupported if it is not of etcd.
[[nodiscard]] TYER_EXPORT comparison guard_txn(const hold& h);
comparison guard_txn(const hold&&) = delete;  // name the hold: a temporary would be released at once

}  // namespace etcd
}  // namespace v1
}  // namespace tyer
