// Removes passwords of URLs from the user's input before it is shown, even if the URL is mistyped.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// For input that should be a URL or a plain word. Of anything but a word only the scheme is shown.
std::string shown_url(std::string_view typed);

// For a text that repeats words of the command line: of words that may be URLs only the scheme is shown.
std::string without_urls(std::string text, int argc, const char* const* argv);

}  // namespace cli
