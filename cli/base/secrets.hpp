// What people have typed, for messages: without the password that a URL may have in it, however it was mistyped.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Something that should have been a URL or a plain word. What is no word is shown as far as its scheme.
std::string shown_url(std::string_view typed);

// A text that repeats words of the command line: those that may be URLs are shown as far as their scheme.
std::string without_urls(std::string text, int argc, const char* const* argv);

}  // namespace cli
