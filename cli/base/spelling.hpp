// Suggestions for unknown words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The nearest known word, or nothing if none is near: one or two wrong letters, and prefixes.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

// The known words that may have been meant, the nearest first: also if punctuation, capitals or one end of the name differ.
std::vector<std::string> similar(std::string_view typed, const std::vector<std::string>& known, std::size_t at_most);

// What other tools call a command of ours: "list" for ls. Nothing if it is no such word.
std::string known_elsewhere_as(std::string_view typed);

}  // namespace cli
