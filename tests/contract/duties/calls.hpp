// Every kind of call that the seam has, made the same way, and what came back: how often, when, and whether it failed.
#pragma once

#include "contract/engine/harness.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tyer::contract {

// Written by the reply, which may outlive the test.
struct told {
  int times = 0;
  time_point sent, when;
  std::optional<engine::failure> failure;
};
using told_ptr = std::shared_ptr<told>;

// What the calls are about: one name that is held, one that somebody else holds, and a place in that one's queue.
struct stage {
  want held, taken, waiting;
};

struct call_kind {
  const char* name;
  // nobody: no state of the server could make it right. about_servers: that one of them says nothing is an answer too.
  enum class needs { server, nobody, about_servers } asks;
  void (*make)(client&, const stage&, told_ptr);
};
std::span<const call_kind> every_kind_of_call();

// `holder` gets what is held, `by` the rest. On an engine without a queue `waiting` is an id that the engine does not know.
stage set_up(client& by, client& other);

struct made_call {
  const call_kind* kind;
  time_point made;
  told_ptr is;
  bool inline_reply;  // answered before the call returned
};
// Makes one of each.
std::vector<made_call> make_every_call(client&, const stage&);

bool all_answered(const std::vector<made_call>&);

}  // namespace tyer::contract
