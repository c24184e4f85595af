// The getaddrinfo() of this program, which knows what a test says. An address is its own name, at once.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tyer::test::name_server {

void know(const std::string& host, std::vector<std::string> addresses);  // any other: try again later
void answer(bool);                     // or keep whoever asks waiting, for a minute at most
void take(std::chrono::milliseconds);  // for every answer
int asked();                           // how often, for names, since answer()

}  // namespace tyer::test::name_server
