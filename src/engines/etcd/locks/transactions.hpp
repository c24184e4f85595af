// The transactions: of a lock that nobody else wants, one to take it and one to give it back; and of every other step. Each
// reads the room if it was mistaken.
#pragma once

#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/etcd/rpc.pb.h"

#include <cstdint>
#include <string>

namespace tyer::etcd {

// So many are read of a room where it is enough to know who holds and who is next. Those behind the next are told to it: more of them
// would be read less often, and be more to write.
inline constexpr std::int64_t some = 16;

// What is to be put at a key.
struct new_key {
  std::string key, value;
  std::int64_t lease = 0;
};

pb::TxnRequest take_if_free(const key_range& room, new_key hold);

// A place in the queue, behind whoever is there. Among some, those who came first and last are read; among many they are only
// counted, since etcd goes through all keys of a room to sort them. If something lies at the key already, all are read.
enum class company { some, many };
pb::TxnRequest take_place(const key_range& room, new_key place, company);

// If nobody is beside an exclusive hold, there is nobody to hand over to. Else those who came first are read, and the floor.
pb::TxnRequest give_back_if_alone(const keys&, const std::string& name, const std::string& key, std::int64_t created,
                                  std::int64_t modified);
// The same without giving it back.
pb::TxnRequest look_who_is_next(const keys&, const std::string& name);

// Whoever else is there: what holds beside others, or waits, keeps nobody out when it goes. Then it is seen whose turn it is, from so many (0: all).
pb::TxnRequest leave(const key_range& room, const std::string& key, std::int64_t modified, std::int64_t see);

// Those of a room that came first, or last.
void read_oldest(pb::RangeRequest&, const key_range& room, std::int64_t limit);
void read_newest(pb::RangeRequest&, const key_range& room, std::int64_t limit);

// What else must be true when the marks of a ledger are written, besides that the marked keys are as they were read.
// `nobody_came` does not miss those who left meanwhile: they only make more room. But it may be somebody's turn because of it; so where
// somebody waits, what is there afterwards is read too.
// `company_stays` is for one that comes or leaves (ledger::company_of_…). With `they_wait` too it is read what is there afterwards.
enum class if_meanwhile { nobody_came, company_stays, they_wait, anything };
if_meanwhile needed_for(const ledger&, int refused);  // how often it was refused
pb::TxnRequest write_changes(const ledger&, const keys&, const std::string& name, if_meanwhile);

}  // namespace tyer::etcd
