// What this client's holds and places live by at a server that has leases (etcd), sessions (ZooKeeper) or session rows (SQL): one
// for each length, at most four, whatever the number of holds. A machine: orders and news out, answers in, time as an argument.
//
//   a lease is | from                              | until
//   -----------+-----------------------------------+-------------------------------------------------------------------------
//   coming     | the first use() of its length     | its grant is answered; whoever asks meanwhile joins
//   live       | the sending of that request       | ttl after the sending of the last request that the server confirmed
//   condemned  | then, or when the server says so  | for ever: no answer that comes later extends it
//
// Nothing is renewed by itself: what nobody keeps ends. One renewal serves all who ask while it is under way, if it left late enough
// for them. Whatever the server confirms counts from when its request left, never from the answer.
//
// A condemned lease is told once, as proof: its holds are gone and its waiters wake, though the server may not have noticed yet. Each
// hold has a deadline of its own besides (the shorter of two lengths may live by the longer lease): a live lease is no proof of a hold.
//
// A grant that was written under a lease stands if that was live when the write left and when its answer came: proven().
//
// A renewal without an answer for a sixth of the ttl asks once for another server: there is time for five more tries.
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
  using user = std::uint64_t;  // whoever asks, as the engine numbers it

  struct order {
    enum class verb : std::uint8_t { grant, renew, revoke, change_server };
    verb what;
    std::uint32_t number;    // of the request: its answer brings it back. Of change_server: whose answer is missing
    std::int64_t lease = 0;  // not of grant
    milliseconds ttl{};      // of grant
  };
  struct news {
    enum class kind : std::uint8_t { ready, kept, failed, condemned };
    kind what;
    user who = 0;  // 0: nobody asked, a lease is condemned
    std::int64_t lease = 0;
    time_point sent = {};  // ready, kept: what this proves counts from then
    milliseconds ttl{};    // and is so long
    failure why_not = {};  // failed
  };
  struct output {
    std::vector<order> orders;
    std::vector<news> told;
  };

  // A request without an answer for this part of the ttl makes the pool change the server.
  static constexpr int patience = 6;
  static constexpr std::size_t leases_max = 4;

  // A lease of at least this length that can be lived by: told ready or failed, perhaps at once.
  void use(user, milliseconds ttl, time_point now, output&);
  void on_granted(std::uint32_t number, std::int64_t lease, milliseconds ttl, time_point now, output&);

  // Proof that the lease lives, by a request that left at `since` or later: told kept, failed or condemned, perhaps at once.
  void renew(user, std::int64_t lease, time_point since, time_point now, output&);
  void on_renewed(std::uint32_t number, milliseconds ttl, time_point now, output&);  // 0: the server has no such lease

  // No answer to this request: unknown, or why it was refused. To all of them: the connection is gone.
  void on_failure(std::uint32_t number, const failure&, time_point now, output&);
  void on_down(const failure&, time_point now, output&);

  // When on_time() has something to do.
  time_point due() const noexcept;
  void on_time(time_point now, output&);

  bool live(std::int64_t lease, time_point now) const noexcept;
  // How long what was written under it is proven to stand, counted from when that left; nothing, if it is not.
  std::optional<milliseconds> proven(std::int64_t lease, time_point sent, time_point now) const noexcept;

  // The server refused a write because it does not know the lease.
  void lost(std::int64_t lease, time_point now, output&);
  // No more is kept. What nobody lives by is given back at once.
  void close(std::span<const std::int64_t> in_use, output&);

 private:
  struct lease {
    std::int64_t id;
    milliseconds ttl;
    time_point kept;      // when the last request left that was confirmed
    bool offered = true;  // else only those live by it who do already
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
