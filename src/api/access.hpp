// How the bodies of the public classes reach each other's insides.
#pragma once

#include "primitives/call.hpp"
#include "primitives/mutex_state.hpp"
#include "runtime/hold_state.hpp"
#include "runtime/house.hpp"

#include <tyer/client.hpp>
#include <tyer/hold.hpp>
#include <tyer/mutex.hpp>

#include <memory>
#include <string>

namespace tyer {
inline namespace v1 {
namespace detail {

class client_state {
 public:
  std::shared_ptr<runtime::house> home;
  std::string owner;  // host, pid, label: stored with every hold, for people
};

struct access {
  static const std::shared_ptr<client_state>& state(const client& c) { return c.state_; }
  static const std::shared_ptr<mutex_state>& state(const mutex& m) { return m.state_; }
  static const std::shared_ptr<hold_state>& state(const hold& h) { return h.state_; }

  static client make_client(std::shared_ptr<client_state> s) { return client{std::move(s)}; }
  static hold make_hold(const std::shared_ptr<runtime::house>& home, std::shared_ptr<hold_state> s) {
    if (s) s->home = home;
    return hold{std::move(s)};
  }
  static std::shared_ptr<hold_state> take(hold& h) { return std::move(h.state_); }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
