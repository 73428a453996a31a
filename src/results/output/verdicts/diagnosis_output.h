// Diagnoses for people: bottleneck, evidence, potential gain, how to confirm it, and the next
// bottleneck. Formats the results of diagnosis.h; deterministic.
#pragma once

#include <string>
#include <vector>

#include "results/output/document/document.h"
#include "results/verdicts/diagnosis/diagnosis.h"

namespace bench::diagnosis {

/// A section with the parts of the steps as bars; nothing for none.
void add_diagnoses(Document& document, const std::vector<Diagnosed>& list,
                   const std::string& heading = "Bottleneck analysis");

/// The rules in their order as a table in Markdown: docs/diagnosis.md has it word by word.
std::string rules_table();

}  // namespace bench::diagnosis
