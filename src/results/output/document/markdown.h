// A document in GitHub's dialect of Markdown, for issues and wikis.
#pragma once

#include <string>

#include "results/output/document/document.h"

namespace bench {

/// Figures are omitted: pages have them.
std::string to_markdown(const Document& document);

}  // namespace bench
