// The three promises, checked while the run goes on and once more at its end.
//
//   fenced  no stale write is accepted; a conflicting grant that was asked for after another had returned has a larger token
//   leased  no two conflicting validity windows overlap, except from a loss of data until the end of what was promised before;
//           nobody is let in during a lock delay or a min_hold; no window is longer than its max_hold
//   live    a name with live waiters and without a valid hold is granted within a bound (once the faults are over); what a
//           client hands off among its own is bounded
//
// A window is one hold in one mode: a conversion ends one and begins another. Behind its end it may cast a shadow: the
// lock delay after a loss, or what is left of its min_hold. Others must not begin in it.
#pragma once

#include "sim/call.hpp"
#include "sim/scenario.hpp"
#include "sim/world.hpp"

#include <tyer/fence.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tyer::sim {

// What a grant that is asked for now must be above.
struct floors {
  std::uint64_t token = 0;                    // exclusive and shared
  std::array<std::uint64_t, permits> slot{};  // permits
};

struct grant {
  std::size_t name, client;
  id who;
  mode how;
  std::uint32_t take;
  std::vector<std::uint32_t> slots;
  std::uint64_t token;
};

class checker {
 public:
  explicit checker(world& w) : world_(w) {}

  floors floor(std::size_t name, mode how) const;

  // A hold was given to its owner, of an engine's hold that may be handed off so often. The number names its window.
  std::size_t opened(grant g, const floors& f, std::uint32_t handoffs_max);
  // It has another mode now, and another token.
  std::size_t converted(std::size_t window, mode how, std::uint64_t token, const floors& f);
  // Its owner has said that it only reads from now on, and waits for the answer.
  std::size_t weakened(std::size_t window);
  // It is over: given back, lost by proof, killed, or at the end of its validity.
  void closed(std::size_t window, moment when);
  // It was lost, and its place stays closed for that long, unless its owner says that it has stopped.
  void lapsed(std::size_t window, duration lock_delay);
  void acknowledged(std::size_t window);
  // It was given back before its min_hold was over.
  void rests(std::size_t window, moment until);
  void asked_back(const id& who);

  // Writes to the resource through its gate. `believes`: the writer has looked, and its hold is valid.
  bool write(std::size_t window, bool believes);

  // The server has forgotten something of this name.
  void lost_data(std::size_t name, moment promised_until);
  void broken(std::size_t name, const id& who, moment promised_until);

  // How it stands with a name: called now and then.
  void look(std::size_t name, bool somebody_waits, bool somebody_upgrades, duration idle_max);

  void finish();

  std::uint64_t grants = 0, handoffs = 0, conversions = 0, accepted = 0, refused = 0;

 private:
  enum class shade : std::uint8_t { none, lock_delay, min_hold };
  struct window {
    grant what;
    moment from, to;
    bool open = true;
    shade behind = shade::none;
    moment shadow_to{};
  };
  struct amnesty {
    moment from, to;
    bool data;  // lost, not only a hold that was broken
  };
  struct fenced {                                            // one resource behind one gate
    std::uint64_t returned_exclusive = 0, returned_any = 0;  // the largest tokens that callers have been given
    std::uint64_t wrote_exclusive = 0, wrote_any = 0;        // and that have been written with
    std::size_t last_writer = 0;                             // window of the last exclusive write
    fence_gate gate;
  };
  struct resource {
    fenced whole;
    std::array<fenced, permits> slots;
    std::unordered_map<std::uint64_t, std::size_t> tokens;  // of exclusive holds and permits, and whose they are
    std::vector<amnesty> forgiven;
    std::size_t open_windows = 0;
    std::uint64_t grants = 0, grants_seen = 0;
    std::optional<moment> idle_since;
  };
  struct ticket {  // an engine's hold
    std::uint64_t last_token = 0;
    std::uint32_t handoffs = 0;
    bool asked_back = false;
    std::optional<moment> broken;
  };

  std::size_t open(grant g);
  void check_token(std::size_t index, const floors& f);
  void check_handoff(const window& w, std::uint32_t handoffs_max);
  bool enter(fenced& f, std::size_t index);
  static bool forgiven(const resource& r, moment from, moment to);
  static bool forgiven(const resource& r, const window& b, const window& w);
  void check_overlaps(std::size_t name);
  void check_pair(const resource& r, const window& b, const window& w);
  static std::string words(const window& w);

  world& world_;
  std::vector<window> windows_;
  std::array<resource, names.size()> resources_;
  std::unordered_map<id, ticket, core::id_hash> tickets_;
};

}  // namespace tyer::sim
