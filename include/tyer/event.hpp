// What a client reports about its locks and its engine: rare things that somebody may want to know.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/admin.hpp>
#include <tyer/hold_id.hpp>
#include <tyer/stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tyer {
inline namespace v1 {

enum class event_kind : std::uint8_t {
  lost,            // a hold of this client is lost; not by closing the client
  revoked,         // somebody has asked for a lock that this client holds (`client::ask`)
  slow_wait,       // callers of this client have waited for a lock for longer than `client_options::slow_wait`
  connected,       // the engine answers: for the first time, or again
  server_changed,  // as connected, but it is another server than before
  disconnected,    // the engine does not answer, or not as it should
  clock_jumped,    // this machine's clock was set by a second or more, or the machine was suspended
};

// For `client_options::on_event`. Members that a kind does not name are empty.
//
//   kind                      | lasted                              | other members
//   --------------------------+-------------------------------------+-------------------------------------------------
//   lost                      | how long it was held                | name, group, id, token, reason; words if the
//                             |                                     | engine has refused to renew it
//   revoked                   | how long it has been held           | name, group, id, token, words (of who asks)
//   slow_wait                 | how long the first of them waits    | name, group, site, waiters, holders; words if the
//                             |                                     | engine did not tell who holds it
//   connected, server_changed | how long it was away, if it was     | server
//   disconnected              | –                                   | words (what went wrong)
//   clock_jumped              | by how much, or for how long        | words (what happened)
struct event {
  event_kind kind = event_kind::lost;
  std::chrono::system_clock::time_point when = {};  // by this machine's clock
  std::string text = {};                            // all of it in one line, for a log; without control characters

  std::string name = {};   // of the lock
  std::string group = {};  // lock_options::group
  hold_id id = {};
  std::optional<std::uint64_t> token = {};  // none where the engine has no tokens
  std::optional<loss_reason> reason = {};
  std::chrono::milliseconds lasted{};
  std::string site = {};                 // "order.cc:87": where the first of those who wait asked for it
  std::size_t waiters = 0;               // callers of this client that wait for the lock with the same options and mode
  std::vector<lock_entry> holders = {};  // who has it, and since when; empty: it was free when the engine was asked
  std::string server = {};               // how the server calls itself, with its version
  std::string words = {};                // somebody else's words: any bytes
  // Events before this one that were dropped: 256 waited, or the executor did not call them.
  std::uint64_t left_out = 0;
};

}  // namespace v1
}  // namespace tyer
