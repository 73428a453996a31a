// What searches found and which ranks the others wait for, as sections of a report.
#pragma once

#include <vector>

#include "results/output/document/document.h"
#include "results/verdicts/localisation/localisation.h"
#include "results/verdicts/localisation/straggler.h"

namespace bench {

/// Nothing for an empty list.
void add_localisations(Document& document, const std::vector<Localisation>& list);
void add_stragglers(Document& document, const std::vector<FoundStraggler>& list);

}  // namespace bench
