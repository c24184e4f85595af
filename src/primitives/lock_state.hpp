// A lock object: its lock and its client.
#pragma once

#include "primitives/call.hpp"

#include <tyer/options.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace detail {

class lock_state {
 public:
  lock_state(std::shared_ptr<runtime::client_runtime> h, std::shared_ptr<const runtime::spec> s,
             const std::source_location& where)
      : home(std::move(h)), what(std::move(s)), made_at(where) {}

  const std::shared_ptr<runtime::client_runtime> home;
  const std::shared_ptr<const runtime::spec> what;
  const std::source_location made_at;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer

namespace tyer::primitives {

// How a lock is held: exclusive, shared, or with a number of permits.
struct manner {
  engine::mode how = engine::mode::exclusive;
  std::uint32_t take = 1, capacity = 1;
  bool needs_token = false;
};

// The terms that the options describe, checked against what the engine can do; throws tyer::error.
std::shared_ptr<const spec> make_spec(const client_runtime& h, std::string_view name, const lock_options& options,
                                      const std::string& owner, const manner& m = {});

}  // namespace tyer::primitives
