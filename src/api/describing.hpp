// Entries of an engine in the public form.
#pragma once

#include "api/hold_ids.hpp"
#include "api/modes.hpp"
#include "core/owner.hpp"
#include "core/token.hpp"
#include "engine/engine.hpp"

#include <tyer/admin.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

inline lock_owner describe(std::string text) {
  lock_owner o;
  if (const auto read = core::read_owner(text)) {
    o.host = read->host;
    o.pid = read->pid;
    o.label = read->label;
    o.site = read->site;
    o.note = read->note;
    o.since = read->since;
  }
  o.text = std::move(text);
  return o;
}

// `handoffs`: of a hold of this client. Those of other clients are not known.
inline lock_entry describe(engine::entry e, bool tokens, std::uint8_t handoffs = 0) {
  lock_entry d;
  d.waiting = e.what == core::fate::waiting;
  d.name = std::move(e.name);
  if (e.who) d.id = id_of(e.who, handoffs);
  if (tokens && !d.waiting && e.part != 0) d.token = core::make_token(e.part, handoffs);
  d.mode = mode_of(e.how);
  d.remaining = std::max(e.left, std::chrono::milliseconds::zero());
  d.slot_numbers = std::move(e.slots);
  d.owner = describe(std::move(e.owner));
  return d;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
