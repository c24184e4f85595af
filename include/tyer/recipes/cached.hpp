// A cache that stays consistent with its database.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/detail/same_client.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>
#include <tyer/recipes/single_flight.hpp>
#include <tyer/recipes/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {

namespace detail {
class crowd;
}  // namespace detail

struct cached_options {
  // For the locks of each key.
  lock_options lock = {};

  // How long read() and write() wait for others, and through an outage of the engine. Above zero.
  std::chrono::milliseconds wait_at_most{30000};
};

// Reads go through the cache, writes go to the database; once write() has returned, no reader gets the old value.
//
//   read(key, load)                              | write(key, change)
//   ---------------------------------------------+--------------------------------------------------------------------------------
//   1. a value in the cache is the answer; the   | 1. takes the lock `NAME/KEY` exclusively
//      engine is not asked                       | 2. removes the key from the cache
//   2. takes the lock `NAME/KEY` shared          | 3. change(hold): write to the database here, and return when it is committed
//   3. one of the readers, the one that has      | 4. gives the lock back; the next reader loads the new value
//      `NAME/KEY:load`, calls load(hold), and    |
//      stores it; the others find it             |
//
// Why they are consistent: the cache is filled only under the shared lock, and has no entry for the key while somebody
// writes. The store refuses a reader that was paused while it loaded, since its token is older than the writer's.
//
//   what goes wrong                            | what happens
//   -------------------------------------------+-----------------------------------------------------------------------------
//   a reader dies while it loads               | after the ttl at the latest the next one loads
//   a writer dies half-way                     | after the ttl readers load what the database has, old or new
//   `load` throws                              | its caller gets the exception, and the next one loads
//   `change` throws                            | its caller gets the exception; the key is out of the cache, the next reader loads
//   the engine is away                         | what is cached is given as before; else errc::unavailable after `wait_at_most`, and
//                                              |   nothing has been changed
//   the cache throws                           | the caller gets the exception; in write() before the database is touched
//   others have the lock for `wait_at_most`    | throws tyer::error with std::errc::timed_out; nothing has been changed
//   the engine forgets a lock while somebody   | the key is removed again before write() returns; until then the cache may have what was
//     writes (FLUSHALL, a failover)            |   before
//   a writer is paused for longer than its ttl | the database must refuse it: show hold.fence() in `change` and in `load`
//     and commits afterwards                   |   (sql_shared_fence). If it cannot: the key is removed again when write() wakes up, and
//                                              |   until then the cache may have what was before
//
// If that removal fails too, write() throws errc::lost: the change was made, and the cache may have the old value until the
// entry expires. So `lives_for` bounds every inconsistency. Writes to the database that do not use this class are not
// noticed, and `load` must read what `change` has committed: no replica that lags behind.
//
// write() asks the engine whether its lock stood until the end, and waits for the answer: at the longest for the rest of the
// ttl and `request_timeout`. `load` and `change` must not read or write the same key: they would wait for themselves, for
// `wait_at_most` (with client_options::refuse_own_wait they are refused at once: errc::would_deadlock).
//
// Thread safety: everything may be called from any thread, but from no callback of Tyer's.
// Lifetimes: keep the client for as long as it is used (errc::closed); the store is kept. A copy is the same object, and a
// move copies.
class TYER_EXPORT cached {
 public:
  using change = std::function<void(const hold&)>;

  // Throws invalid_option. Errors in the lock's options or in a key are reported by read() and write().
  cached(const client& owner, std::string_view name, std::shared_ptr<store> cache, cached_options options = {});
  cached(const client&&, std::string_view, std::shared_ptr<store>, cached_options = {}) = delete;
  cached(const cached&) = default;
  cached& operator=(const cached&) = default;

  [[nodiscard]] std::string read(std::string_view key, const compute& load) const;
  void write(std::string_view key, const change& make) const;

 private:
  std::shared_ptr<const client> client_;
  std::string name_;
  std::shared_ptr<store> cache_;
  cached_options options_;
  std::shared_ptr<detail::crowd> readers_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
