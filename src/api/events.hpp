// Events of the runtime in the public form.
#pragma once

#include "runtime/event_line.hpp"

#include <tyer/options.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

// Wraps the user's function; null if there is none. `tokens`: the engine has fencing tokens.
runtime::event_line::hook telling(event_hook to, bool tokens);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
