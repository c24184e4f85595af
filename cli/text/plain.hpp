// Text that somebody else has written, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Printable UTF-8 stays. Control characters, bytes that are no UTF-8, and characters that turn the direction of text become
// \xNN or \u{N}: what lies in an engine must not be able to move the cursor, hide a line or set a title.
std::string plain(std::string_view text);

// The name of a lock in a sentence: 'nightly'.
std::string named(std::string_view name);

// The same for a line that people copy into a shell: nightly, 'two words'.
std::string for_shell(std::string_view name);

// Columns on a terminal, of plain text.
int columns(std::string_view plain_text);

// At most so many columns; what is cut is shown by an ellipsis.
std::string shortened(std::string_view plain_text, int columns_max);

// An engine's address for a line of text: the first server, and how many more there are.
std::string short_address(std::string_view address);

// For JSON: UTF-8 with every other byte replaced by U+FFFD.
std::string valid_utf8(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace cli
