// Comparisons with bands of the field as part of a document.
#pragma once

#include <vector>

#include "results/output/document/document.h"
#include "results/run/banded_figures.h"

namespace bench {

/// A section with a table and its sources; nothing if there are no comparisons.
void add_bands(Document& document, const std::vector<BandComparison>& comparisons);

}  // namespace bench
