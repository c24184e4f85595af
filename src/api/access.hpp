// Gives the implementations of the public classes access to each other's private members.
#pragma once

#include "primitives/call.hpp"
#include "primitives/lock_state.hpp"
#include "runtime/client_runtime.hpp"
#include "runtime/hold_state.hpp"

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/debug.hpp>
#include <tyer/hold.hpp>

#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace detail {

class recursive_names;

class client_state {
 public:
  std::shared_ptr<runtime::client_runtime> home;
  std::string owner;                           // host, pid, label: stored with every hold, for people
  std::string address;                         // scheme, hosts and ports
  std::string identity;                        // prefix and engine: equal for all clients that see the same names
  std::shared_ptr<recursive_names> recursive;  // which thread has locked which name
};

struct access {
  static const std::shared_ptr<client_state>& state(const client& c) { return c.state_; }
  static const std::shared_ptr<const lock_state>& state(const acquirable& a) { return a.state_; }
  static const std::shared_ptr<hold_state>& state(const hold& h) { return h.state_; }

  static const std::shared_ptr<order_book>& book(const debug::order& o) { return o.book_; }

  static void forget(client& c) noexcept { c.state_.reset(); }  // without closing it
  static client make_client(std::shared_ptr<client_state> s) { return client{std::move(s)}; }
  static hold make_hold(const std::shared_ptr<runtime::client_runtime>& home, std::shared_ptr<hold_state> s) {
    if (s) s->home = home;
    return hold{std::move(s)};
  }
  static std::shared_ptr<hold_state> take(hold& h) { return std::move(h.state_); }

  // A lock of this client; throws tyer::error.
  static std::shared_ptr<const lock_state> make_lock(const client& c, std::string_view name,
                                                     const lock_options& options, const std::source_location& where,
                                                     const primitives::manner& m = {}) {
    if (!c.state_) throw error(errc::closed);
    return std::make_shared<lock_state>(
        c.state_->home, primitives::make_spec(*c.state_->home, name, options, c.state_->owner, m), where);
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
