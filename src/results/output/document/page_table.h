// A table of a page. Where the window is too narrow for all of its columns, each row is shown as a
// card with the column titles as labels, so nothing is cut off and nothing scrolls sideways.
#pragma once

#include <cstddef>
#include <string>

#include "results/output/document/document.h"

namespace bench {

/// CSS class of a tone; "" for none.
std::string_view class_of(Tone tone);
/// Escaped, in a span of that class.
std::string toned_html(const std::string& text, Tone tone);
std::string inline_html(const StyledText& text);
/// A link if the address is a relative one: what leads elsewhere has a colon, a backslash or begins
/// with a slash.
std::string link_html(const std::string& html, const std::string& address);

/// "" without rows. `number`: of the table in its page, from 1. Columns whose rows are all equal
/// are named in one line above.
std::string table_html(const DocumentTable& table, std::size_t number);

}  // namespace bench
