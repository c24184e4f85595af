// What somebody may have meant who typed a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The known word that is nearest to it, or nothing if none is near: slips of a letter or two, and beginnings.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

// Those that somebody may have meant, the nearest first: also where punctuation, capitals or one end of the name differ.
std::vector<std::string> similar(std::string_view typed, const std::vector<std::string>& known, std::size_t at_most);

// What other tools call a command of ours: "list" for ls. Nothing if it is no such word.
std::string known_elsewhere_as(std::string_view typed);

}  // namespace cli
