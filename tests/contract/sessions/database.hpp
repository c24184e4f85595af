// What somebody does to a database beside the locks, in the words of each kind.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace tyer::contract::beside {

void end_session_of(const std::string& name);  // of whoever has it locked
// As if its last grant had been before the server was started, and could be believed in for so long from now on, whatever its clock
// said when it was granted.
void grant_was_before_the_start(const std::string& name, std::chrono::milliseconds);
std::jthread lock_row(const std::string& name, std::chrono::milliseconds);  // in a transaction, meanwhile

}  // namespace tyer::contract::beside
