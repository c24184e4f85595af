// Everything that needs the standard library only. For Asio users: <tyer/asio.hpp>; for tests: <tyer/testing.hpp>.
#pragma once

#include <tyer/client.hpp>
#include <tyer/clock.hpp>
#include <tyer/error.hpp>
#include <tyer/fence.hpp>
#include <tyer/hold.hpp>
#include <tyer/mutex.hpp>
#include <tyer/options.hpp>
#include <tyer/version.hpp>
