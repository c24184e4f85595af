// Locks that nobody else wants, through Tyer's public API, on any engine.
#pragma once

#include <tyer/client.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace bench {

using std::chrono::milliseconds;

double median(std::vector<double>);

// Lock + awaited unlock cycles per second: as many coroutines, each with a name of its own.
double tyer_pipelined(const std::string& uri, int callers, milliseconds run);
double tyer_pipelined(const tyer::client& client, int callers, milliseconds run);
// Microseconds of each lock + awaited unlock by one blocking caller.
std::vector<double> tyer_sequential(const std::string& uri, milliseconds run);

}  // namespace bench
