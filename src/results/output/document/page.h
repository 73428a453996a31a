// A document as one self-contained HTML file that works offline, on phones and in print: style and
// script are embedded, nothing is loaded, and all text is escaped. Tables sort by clicking a column
// and have a search field; colours follow the system or a switch. Readable without scripts.
#pragma once

#include <string>

#include "results/output/document/document.h"

namespace bench {

std::string to_page(const Document& document);

}  // namespace bench
