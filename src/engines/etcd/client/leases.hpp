// The leases this client's keys live by: one for each length, whatever the number of keys. Of more than 16 lengths some share one that is
// longer, by twice at most: whoever dies is to be gone when its own ttl is over, not when that of another lock is.
//
// A lease is granted when it is first needed, and kept alive only when somebody asks for it: what is not kept ends. Time
// counts from the sending of the request that the server confirmed. All are kept over one stream.
#pragma once

#include "engines/etcd/client/link.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tyer::etcd {

// As etcd grants it: whole seconds, and not less than it knows how to.
milliseconds rounded(milliseconds ttl);

// How long what is kept would be there without its server: a hold its ttl; a place in the queue as long as its lease, which is
// often much longer than the time it has itself. No place is worth leaving a server for, on which holds depend.
inline milliseconds lives_for(engine::fate as, milliseconds ttl) {
  return as == engine::fate::waiting ? rounded(ttl) : ttl;
}

// An answer may be counted from a keep-alive that left up to this long before the question: half of the time between two
// renewals of a hold. So of two holds of a lease that fall due apart, one is within reach of the other's, and from then on
// they fall due together.
constexpr lease_clock::duration may_be_earlier(milliseconds ttl) { return lease_clock::duration{ttl} / 6; }

class leases {
 public:
  leases(link& l, const engine::environment& e) : link_(l), environment_(e) {}
  ~leases();  // nobody is told any more: whoever waits is about to go too

  using ready = std::function<void(const failure*, std::int64_t lease)>;
  using renewed = std::function<void(const failure*, bool alive, time_point sent)>;

  // A lease that is at least this long, and none of those to avoid. Perhaps called before it returns.
  void use(milliseconds ttl, time_point deadline, ready, const std::set<std::int64_t>& avoid = {});

  // One that is long enough and can be used at once; 0: there is none.
  std::int64_t at_hand(milliseconds ttl) {
    const lease* const l = find(rounded(ttl), {});
    return l != nullptr ? l->id : 0;
  }

  // When the last request left that the server confirmed; the beginning of time if there was none.
  time_point kept_at(std::int64_t lease) const;

  // Keeps any lease alive, also of another client; not alive: there is no such lease any more. One request that left at
  // `since` or later serves all who ask while it is under way. Never before it returns. How long the server may be silent
  // about it depends on the ttl of what lives by it (link::patience): the stream itself would wait for ever.
  void renew(std::int64_t lease, time_point since, milliseconds ttl, renewed);

  // Renewed if it might end before what is to live by it for so long has had nearly all of its time. Nobody waits for it.
  void make_last(std::int64_t lease, milliseconds ttl, milliseconds for_so_long);

  // The server does not know it any more.
  void forget(std::int64_t lease);

  void on_down() { end_stream(); }
  void start_anew();  // nobody waits for a lease whose grant was perhaps never heard of

  // No more is kept; those that no hold lives by are given back at once. A request that is still on its way then finds no
  // lease to put its key under.
  void close(const std::set<std::int64_t>& in_use);

 private:
  struct lease {
    std::int64_t id = 0;
    milliseconds asked{}, ttl{};  // the server may grant more than it was asked for
  };
  struct asked {
    std::int64_t id = 0;
    time_point sent;
    std::uint64_t expected = 0;
    std::vector<renewed> who;
  };

  lease* find(milliseconds ttl, const std::set<std::int64_t>& avoid);
  void granted(milliseconds ttl, time_point sent, const failure*, const pb::LeaseGrantResponse&);
  void answered(const pb::LeaseKeepAliveResponse&);
  void confirmed(std::int64_t lease, time_point sent);
  void start_stream();
  void end_stream();

  link& link_;
  const engine::environment environment_;
  std::vector<lease> leases_;
  std::map<milliseconds, std::vector<ready>> being_granted_;
  std::shared_ptr<stream<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>> stream_;
  std::uint64_t stream_number_ = 0;
  std::deque<asked> asked_;  // answered in this order
  std::unordered_map<std::int64_t, time_point> kept_;
};

}  // namespace tyer::etcd
