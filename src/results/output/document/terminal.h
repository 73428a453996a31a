// A document as text for a terminal or a log.
#pragma once

#include <string>

#include "results/output/document/document.h"
#include "results/output/document/text_style.h"

namespace bench {

/// Blocks are separated by empty lines, except what follows a heading, lines from the table above
/// or below them, and notes from notes. Ends with a newline.
std::string to_terminal(const Document& document, const TextStyle& style);

}  // namespace bench
