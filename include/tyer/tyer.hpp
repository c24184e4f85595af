// Everything that needs only the standard library, except special parts: <tyer/async.hpp> (callbacks, for event loops),
// <tyer/recipes.hpp> (common uses of a lock), <tyer/debug.hpp> and <tyer/testing.hpp>. For Boost.Asio: <tyer/asio.hpp>.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/admin.hpp>
#include <tyer/client.hpp>
#include <tyer/clock.hpp>
#include <tyer/election.hpp>
#include <tyer/error.hpp>
#include <tyer/etcd.hpp>
#include <tyer/event.hpp>
#include <tyer/fence.hpp>
#include <tyer/fence_pass.hpp>
#include <tyer/hold.hpp>
#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>
#include <tyer/multi_mutex.hpp>
#include <tyer/mutex.hpp>
#include <tyer/observation.hpp>
#include <tyer/options.hpp>
#include <tyer/recursive_mutex.hpp>
#include <tyer/semaphore.hpp>
#include <tyer/shared_mutex.hpp>
#include <tyer/sql_fence.hpp>
#include <tyer/stats.hpp>
#include <tyer/version.hpp>
