// What is said where no engine is named.
#pragma once

#include "base/trouble.hpp"

#include <string>

namespace cli {

// With how to name one.
trouble no_engine();

// Of the variable TYER_URI, which tools of the project set and `tyer` does not read. Empty if it is not set.
std::string note_on_tyer_uri();

}  // namespace cli
