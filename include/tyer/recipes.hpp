// All recipes: common uses of a lock, ready to use.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/recipes/cached.hpp>
#include <tyer/recipes/once_per.hpp>
#include <tyer/recipes/redis_store.hpp>
#include <tyer/recipes/single_flight.hpp>
#include <tyer/recipes/store.hpp>
#include <tyer/recipes/striped.hpp>
