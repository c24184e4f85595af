// Locks as people see them: who holds what, who waits, and how to break it. The `tyer` command line is made of this.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/detail/to_wait.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>
#include <tyer/observation.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

// Who the owner says it is: a help for people, not a proof. Any client that may write to the engine can write any bytes here;
// do not print them to a terminal unescaped.
struct lock_owner {
  std::string text = {};  // all of it, as stored; the other members are empty if it is not in the form that Tyer writes

  std::string host = {};
  std::uint64_t pid = 0;
  std::string label = {};                                           // client_options::label, or the program's name
  std::string site = {};                                            // "order.cc:87": where the lock was asked for
  std::string note = {};                                            // lock_options::note
  std::optional<std::chrono::system_clock::time_point> since = {};  // asked for, by the owner's own clock
};

// One hold, or one place in the queue. By the time it is read it may be over.
struct lock_entry {
  std::string name = {};

  // hold::id() and hold::token() as they were when the engine granted the lock: hand-offs inside the holder's client are not
  // visible from outside. An empty id: another library holds the lock. No token: the entry waits, or the engine has no
  // tokens.
  hold_id id = {};
  std::optional<std::uint64_t> token = {};

  bool waiting = false;
  std::uint32_t place = 0;  // in the queue: 1 is next. 0: it holds the lock, or list() made the entry
  lock_mode mode = lock_mode::exclusive;
  std::chrono::milliseconds remaining{};         // until its lease or its place ends if it is not renewed
  std::vector<std::uint32_t> slot_numbers = {};  // of permits
  lock_owner owner = {};
};

struct lock_page {
  std::vector<lock_entry> entries = {};
  std::string cursor = {};  // for the next page; empty: that was all
};

enum class severity : std::uint8_t { note, advice, warning, error };

struct finding {
  severity level = severity::note;
  std::string what = {};
  std::string advice = {};  // what to do about it
};

struct server_info {
  std::string id = {}, version = {};                // as the server calls itself; may be empty
  std::chrono::system_clock::time_point told = {};  // when we connected, by our own clock
  std::optional<std::chrono::system_clock::time_point> clock =
      {};  // what its clock showed then, to within a round trip
};

// What the engine can do, in the mode that the URI asks for.
struct abilities {
  bool queue = false;       // first come, first served; else the first attempt after it is free gets it
  bool shared = false;      // shared_mutex
  bool permits = false;     // semaphore
  bool tokens = false;      // hold::token()
  bool push = false;        // waiters are woken and holders told, without polling
  bool conversion = false;  // upgrade and downgrade
  bool lock_delay = false;  // lock_options::lock_delay
  bool owners = false;      // keeps who holds a lock and where
  std::chrono::milliseconds ttl_min{};
};

// Looks at the locks of a client's engine and prefix.
//
//   tyer::admin admin{client};
//   for (const auto& e : admin.show("order/42")) std::cout << e.owner.host << ' ' << e.owner.site << '\n';
//
// Nothing here takes a lock or waits for one. Each call asks the engine once and throws tyer::error, or tells `why` and
// gives an empty answer.
//
// Thread safety: everything may be called from any thread.
// Lifetimes: keeps what it needs of the client alive; after client::close() every call fails with errc::closed.
class TYER_EXPORT admin {
 public:
  explicit admin(const client& of) noexcept;
  explicit admin(const client&&) = delete;  // a temporary one would be closed at the end of the statement

  // Everybody who holds the name, and then those who wait for it, the next one first.
  [[nodiscard]] std::vector<lock_entry> show(std::string_view name) const;
  [[nodiscard]] std::vector<lock_entry> show(failure& why, std::string_view name) const noexcept;

  // All names that begin with `prefix`, page by page: give the cursor of the page before. A page has about `limit` names
  // and may have none. The pages of one listing may show an entry twice or, if it comes or goes meanwhile, not at all.
  [[nodiscard]] lock_page list(std::string_view prefix = {}, std::string_view cursor = {},
                               std::uint32_t limit = 100) const;
  [[nodiscard]] lock_page list(failure& why, std::string_view prefix = {}, std::string_view cursor = {},
                               std::uint32_t limit = 100) const noexcept;

  // Takes the lock, or the place in the queue, from exactly that entry, never from its successor. False: the entry no longer
  // existed. Its owner is told by lost(), and works on until that reaches it: ask first (client::ask). errc::unsupported for
  // what another library holds.
  [[nodiscard]] bool evict(const lock_entry& which, std::string_view reason = {}) const;
  [[nodiscard]] bool evict(failure& why, const lock_entry& which, std::string_view reason = {}) const noexcept;

  // What is wrong with the engine, or with how it is set up.
  [[nodiscard]] std::vector<finding> diagnose() const;
  [[nodiscard]] std::vector<finding> diagnose(failure& why) const noexcept;

  // What the server said when the client last connected. Waits for a connection for at most client_options::request_timeout.
  [[nodiscard]] server_info server() const;
  [[nodiscard]] server_info server(failure& why) const noexcept;

  // From the URI alone.
  [[nodiscard]] abilities can() const;
  [[nodiscard]] std::string address() const;  // scheme, hosts, ports, path and ?protocol=: never a password

  // Calls `changed` now with all entries, and again whenever an entry appears, disappears or gets the lock; a renewal is no
  // change. The calls come one at a time, on a thread of the client. memory and etcd announce changes and are read then;
  // Redis, in all deployments, and Redlock are polled. `every` is the longest time between two reads on any engine, and so
  // the delay where the engine is polled. An entry that came and went between two reads is not reported, on any engine. Reads
  // are at least 100 ms apart however much changes, and each costs the same few requests however many wait: on etcd
  // `remaining` is exact for the first entry only, and an upper bound for the others.
  // A read that fails is reported to `failed`, if there is one. errc::invalid_option unless `every` is above zero.
  observation watch(std::string_view name, std::function<void(const std::vector<lock_entry>&)> changed) const {
    return watch(name, std::move(changed), std::chrono::seconds{1});
  }
  template <class Rep, class Period>
  observation watch(std::string_view name, std::function<void(const std::vector<lock_entry>&)> changed,
                    const std::chrono::duration<Rep, Period>& every, look_failed failed = {}) const {
    return watch_every(detail::to_wait(every), name, std::move(changed), std::move(failed));
  }

 private:
  observation watch_every(std::chrono::nanoseconds every, std::string_view name,
                          std::function<void(const std::vector<lock_entry>&)> changed, look_failed failed) const;

  std::shared_ptr<detail::client_state> state_;
};

}  // namespace v1
}  // namespace tyer
