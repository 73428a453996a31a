// A cell of a CSV table.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// A text as a cell of RFC 4180. A text that a spreadsheet would take for a formula (it begins with
/// = + - @, a tab or a line end) gets an apostrophe in front: it may come from a host's name or an
/// error message. Numbers are written without this function.
std::string csv_cell(std::string_view text);

/// A number as a cell; empty if it is not finite.
std::string csv_number(double value);

/// The text of a cell that csv_cell() wrote, once its quotes are removed.
std::string_view csv_text(std::string_view cell);

}  // namespace bench
