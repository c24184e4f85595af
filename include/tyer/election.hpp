// Leader election: one of many candidates leads.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/error.hpp>
#include <tyer/hold.hpp>
#include <tyer/observation.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {

// Who leads, according to the engine. The term may be over by the time this is read.
struct leadership {
  std::uint64_t term =
      0;  // the leader's token, or a smaller one of the same grant if it was handed on inside its client
  std::string note = {};                  // the leader's `lock_options::note`
  std::string owner = {};                 // host, pid, label and call site, for people
  std::chrono::milliseconds remaining{};  // of its lease
};

// An election: the elected candidate leads for a term, until it resigns, dies, or its lease ends.
//
//   tyer::election office{client, "scheduler", {.ttl = 5s, .note = "10.0.0.7:8080"}};
//   tyer::hold term = office.campaign();          // waits until elected
//   std::stop_callback stop{term.lost(), [] { /* stop leading */ }};
//   work(term.token());                           // the term is a fencing token: larger for every later one
//   term.release();                               // resigns
//
//   state      | becomes
//   -----------+------------------------------------------------------------------------
//   candidate  | leader, when those before it are gone (first come, first served)
//   leader     | nobody: release(), the end of the hold, or valid_until() without renewal
//
// Leadership ends at valid_until(), whatever the leader believes: another one may lead from then on.
//
// Thread safety: everything may be called from any thread.
class TYER_EXPORT election : public acquirable {
 public:
  election(const client& owner, std::string_view name, lock_options options = lock_options(),
           std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  election(const client&&, std::string_view, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second. Several names: multi_mutex.
  election(const client&, std::initializer_list<std::string_view>, lock_options = {},
           std::source_location = {}) = delete;

  // acquire() under its usual name for elections; the other forms are those of acquirable.
  hold campaign(std::stop_token stop = {}, std::source_location where = std::source_location::current()) const {
    return acquire(std::move(stop), where);
  }
  hold campaign(failure& why, std::stop_token stop = {},
                std::source_location where = std::source_location::current()) const noexcept {
    return acquire(why, std::move(stop), where);
  }

  // Asks the engine. Empty: nobody leads.
  [[nodiscard]] std::optional<leadership> current() const;
  [[nodiscard]] std::optional<leadership> current(failure& why) const noexcept;

  // Calls `changed` with the leader now, and again whenever a new term has begun or nobody leads. The calls come one at a
  // time, on a thread of the client or where `client_options::completions` puts them. An exception on a thread of the client
  // ends the process.
  //
  //   engine                              | is read                                                   | delay
  //   ------------------------------------+-----------------------------------------------------------+--------------
  //   memory, etcd                        | when it announces a change, and as often as those below   | a round trip
  //   redis (all deployments), redlock    | every third of this object's ttl                          | that and a round trip
  //
  // A leader that came and went between two reads is not reported, on any engine. A read that fails is reported to `failed`,
  // if there is one.
  observation observe(std::function<void(const std::optional<leadership>&)> changed, look_failed failed = {}) const;
};

}  // namespace v1
}  // namespace tyer
