// The transactions: of a lock that nobody else wants, one to take it and one to give it back; and of every other step. Each
// reads the room if it was mistaken.
#pragma once

#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/etcd/rpc.pb.h"

#include <cstdint>
#include <string>

namespace tyer::etcd {

pb::TxnRequest take_if_free(const key_range& room, const std::string& key, std::string value, std::int64_t lease);

// Nobody was there when it was written: if nobody has come since, there is nobody to hand over to.
pb::TxnRequest give_back_if_alone(const key_range& room, const std::string& key, std::int64_t modified);

// Those of a room that came first, or last.
void read_oldest(pb::RangeRequest&, const key_range& room, std::int64_t limit);
void read_newest(pb::RangeRequest&, const key_range& room, std::int64_t limit);

// So many are read of a room where it is enough to know who holds and who is next.
inline constexpr std::int64_t some = 32;

// What else must be true when the marks of a ledger are written, besides that the marked keys are as they were read. Those
// who left meanwhile only make more room.
enum class if_meanwhile { nobody_came, anything };
pb::TxnRequest write_changes(const ledger&, const keys&, const std::string& name, if_meanwhile);

}  // namespace tyer::etcd
