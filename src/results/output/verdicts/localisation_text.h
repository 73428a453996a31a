// What searches found and who stood out, as sections of a report in the terminal.
#pragma once

#include <string>
#include <vector>

#include "results/output/document/text_style.h"
#include "results/verdicts/localisation/localisation.h"
#include "results/verdicts/localisation/straggler.h"

namespace bench {

/// A section of a report; "" if empty.
std::string localisation_text(const std::vector<Localisation>& list, const TextStyle& style);
/// A section of a report; "" for none.
std::string stragglers_text(const std::vector<FoundStraggler>& list, const TextStyle& style);

}  // namespace bench
