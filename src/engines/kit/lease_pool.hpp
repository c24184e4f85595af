// The leases under which this client's holds live at a server with session rows (SQL): one for each length, whatever the number of
// holds. Of more than 16 lengths some share one that is longer, by twice at most: whoever dies is to be gone when its own ttl is over,
// not when that of another lock is. A machine: orders and news out, answers in, time as an argument.
//
//   a lease is | from                              | until
//   -----------+-----------------------------------+-------------------------------------------------------------------------
//   coming     | the first use() of its length     | its grant is answered; further use() calls join it
//   live       | the sending of that request       | ttl after the sending of the last request that the server confirmed
//   condemned  | then, or when the server says so  | for ever: no answer that comes later extends it
//
// The pool renews nothing by itself: a lease that no user renews ends. One renewal serves all users that ask while it is under
// way, if it left late enough for them. A confirmation counts from when its request left, never from the answer: from its order or, if
// the engine had to wait with it, from when left() says.
//
// A condemned lease is reported once, as proof: its holds are gone and its waiters wake, even if the server has not noticed
// yet. Each hold also has a deadline of its own (a hold with a short ttl may live under a longer lease): a live lease does not
// prove a hold.
//
// A grant that was written under a lease stands if the lease was live when the write left and when its answer came: proven().
//
// If a renewal gets no answer for a sixth of the ttl, the pool orders another server, once: there is time for five more tries.
//
// Thread safety: none. No I/O, no clock.
#pragma once

#include "engines/kit/calls.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tyer::kit {

class lease_pool {
 public:
  using user = std::uint64_t;  // the engine's number of a request that needs a lease

  struct order {
    enum class verb : std::uint8_t { grant, renew, revoke, change_server };
    verb what;
    std::uint32_t number;    // of the request, returned with its answer. For change_server: the unanswered request
    std::int64_t lease = 0;  // not for grant
    milliseconds ttl{};      // for grant
  };
  struct news {
    enum class kind : std::uint8_t { ready, kept, failed, condemned };
    kind what;
    user who = 0;  // 0: no user; a lease was condemned
    std::int64_t lease = 0;
    time_point sent = {};  // ready, kept: the proof counts from then
    milliseconds ttl{};    // and lasts this long
    failure why_not = {};  // failed
  };
  struct output {
    std::vector<order> orders;
    std::vector<news> told;
  };

  // A request that is unanswered for this fraction of the ttl makes the pool change the server.
  static constexpr int patience = 6;
  static constexpr std::size_t own_lengths_max = 16;
  static constexpr std::size_t leases_max = 32;  // more than twice as long each time, 16 reach beyond any ttl

  // Requests a usable lease of at least this length: the news is ready or failed, perhaps at once.
  void use(user, milliseconds ttl, time_point now, output&);
  void on_granted(std::uint32_t number, std::int64_t lease, milliseconds ttl, time_point now, output&);

  // Requests proof that the lease lives, by a request that left at `since` or later: the news is kept, failed or condemned,
  // perhaps at once.
  void renew(user, std::int64_t lease, time_point since, time_point now, output&);
  void on_renewed(std::uint32_t number, milliseconds ttl, time_point now, output&);  // 0: the server has no such lease

  // Before its answer is told: this request left later than it was ordered.
  void left(std::uint32_t number, time_point at) noexcept;

  // This request failed: unknown, or the reason of the refusal. The other form is for all requests: the connection is gone.
  void on_failure(std::uint32_t number, const failure&, time_point now, output&);
  void on_down(const failure&, time_point now, output&);

  // When on_time() has something to do.
  time_point due() const noexcept;
  void on_time(time_point now, output&);

  bool live(std::int64_t lease, time_point now) const noexcept;
  // How long a write under the lease is proven to stand, counted from when the write left; nothing if it is not proven.
  std::optional<milliseconds> proven(std::int64_t lease, time_point sent, time_point now) const noexcept;

  // The server refused a write because it does not know the lease.
  void lost(std::int64_t lease, time_point now, output&);
  // Stops all renewals. Leases that are not in use are released at once.
  void close(std::span<const std::int64_t> in_use, output&);

 private:
  struct lease {
    std::int64_t id;
    milliseconds ttl;
    time_point kept;      // when the last confirmed request left
    bool offered = true;  // else it gets no new users
    time_point end() const noexcept { return kept + ttl; }
  };
  struct asked {
    std::uint32_t number;
    std::int64_t lease;  // 0: a grant
    milliseconds ttl;
    time_point sent;
    bool impatient = false;
    std::vector<user> who = {};
  };

  lease* find(std::int64_t id) noexcept;
  const lease* find(std::int64_t id) const noexcept;
  const lease* fitting(milliseconds ttl, time_point now) const noexcept;
  std::optional<asked> take(std::uint32_t number);
  void ask(order::verb, user, std::int64_t lease, milliseconds ttl, time_point now, output&);
  void condemn(std::int64_t lease, output&);

  std::vector<lease> leases_;
  std::vector<asked> asked_;
  std::uint32_t last_ = 0;
};

}  // namespace tyer::kit
