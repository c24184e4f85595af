// What a request says about places in the engine's queues, and what its answer says.
//
// This is the one place of the lab that knows how the Redis engine packs its arguments (scripts/acquire.lua and its
// neighbours say it): there is no other way to see the queue as the server sees it without asking the server, which would
// change what is observed.
#pragma once

#include "history/event.hpp"
#include "proxy/request.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fault {

struct ticket {
  std::uint64_t number = 0;  // made of the id
  std::uint16_t name = 0;
  mode how = mode::exclusive;  // only known of an acquire
  std::int64_t place_ns = 0;   // how long its place is good after this request
};

// Of an acquire, a claim, a release: one; of a keep of waiters: all of them. None for other requests, and for names that
// are not of the lab.
std::vector<ticket> tickets_of(kind what, const std::vector<std::string_view>& words);

// What the request itself shows: an acquire is `asked`, a release is `given_up`.
std::vector<event> request_events(kind what, const std::vector<ticket>&, std::int64_t arrived);

// What the answer shows; `message` is one reply in RESP.
std::vector<event> answer_events(kind what, const std::vector<ticket>&, std::string_view message, std::int64_t arrived,
                                 std::int64_t read);

}  // namespace fault
