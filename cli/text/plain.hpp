// Makes text from others safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Printable UTF-8 stays. Control characters, bytes that are not UTF-8, and characters that change the direction of text or cannot
// be seen become \xNN or \u{N}: data from an engine must not move the cursor, hide a line, set a title or look like another name.
std::string plain(std::string_view text);

// The name of a lock in a sentence: 'nightly'.
std::string named(std::string_view name);

// The same for a line that people copy into a shell: nightly, 'two words'.
std::string for_shell(std::string_view name);

// Columns on a terminal, of plain text.
int columns(std::string_view plain_text);

// At most that many columns; an ellipsis shows that text was cut.
std::string shortened(std::string_view plain_text, int columns_max);

// An engine's address for a line of text: the first server, and how many more there are.
std::string short_address(std::string_view address);

// For JSON: UTF-8 with every other byte replaced by U+FFFD.
std::string valid_utf8(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace cli
