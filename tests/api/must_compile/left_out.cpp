// Members that are left out of a designated initialiser, with -Wextra: for a store or a test of one's own.
#include <tyer/recipes.hpp>
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

tyer::recipes::entered let_in() { return {.let_in = true}; }
tyer::recipes::fresh forgotten() { return {.lives_for = 1s}; }
tyer::lock_entry named() { return {.name = "a", .owner = {.host = "b"}}; }
tyer::leadership led() { return {.term = 7}; }
tyer::finding found() { return {.level = tyer::severity::error}; }
tyer::lock_page last() { return {.entries = {named()}}; }
