// The protected resource: lets a write or a read in unless it has been shown a larger token that conflicts.
#pragma once

#include "history/event.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace fault {

// What a worker sends; the answer is one byte, the verdict.
struct offer {
  std::uint64_t token = 0, hold = 0;
  std::uint16_t name = 0;
  mode how = mode::exclusive;
  std::uint8_t reserved = 0;
  std::uint16_t slots = 0;  // of permits: one bit for each
  std::uint16_t reserved2 = 0;
};

// As tyer::fence_gate, and it also remembers who showed the token: an equal one of somebody else is a conflict.
class gate {
 public:
  verdict enter(const offer& o) {
    if (o.token < any_.token) return verdict::stale;
    if (o.token == any_.token && o.hold != any_.hold) return verdict::conflict;
    any_ = o;
    exclusive_ = o.token;
    return verdict::accepted;
  }

  verdict enter_shared(const offer& o) {
    if (o.token < exclusive_) return verdict::stale;
    if (o.token == exclusive_) return verdict::conflict;  // a reader never has the token of a writer
    if (o.token > any_.token) any_ = o;
    return verdict::accepted;
  }

 private:
  std::uint64_t exclusive_ = 0;  // the largest of a writer
  offer any_;                    // the largest of anybody
};

// One gate for each name, and for each slot of a name with permits.
class gates {
 public:
  verdict show(const offer& o) {
    if (o.how == mode::exclusive) return gates_[key(o.name, whole)].enter(o);
    if (o.how == mode::shared) return gates_[key(o.name, whole)].enter_shared(o);
    // Shown to the gate of every slot, as a user would; in only if all of them let it in.
    verdict worst = o.slots != 0 ? verdict::accepted : verdict::conflict;
    for (std::uint32_t slot = 0; slot < whole; ++slot) {
      if ((o.slots >> slot & 1) != 0) worst = std::max(worst, gates_[key(o.name, slot)].enter(o));
    }
    return worst;
  }

 private:
  static constexpr std::uint32_t whole = 16;
  static std::uint32_t key(std::uint32_t name, std::uint32_t slot) { return name * (whole + 1) + slot; }

  std::unordered_map<std::uint32_t, gate> gates_;
};

}  // namespace fault
