// Diagnoses for people: bottleneck, evidence, potential gain, how to confirm it, and the next
// bottleneck. Formats the results of diagnosis.h; deterministic.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/output/document/page.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/diagnosis/diagnosis.h"

namespace bench::diagnosis {

/// A section of a report, a block for each; "" for none. Safe for a terminal.
std::string to_text(const std::vector<Diagnosed>& list, const TextStyle& style);

/// A section of a page, with the time of a step of each as a bar; nothing for none.
void add_to_page(const std::vector<Diagnosed>& list, Page& page);

/// The rules in their order as a table in Markdown: docs/diagnosis.md has it word by word.
std::string rules_table();
// Shared by text and page; external names are not sanitised.

/// "images, a loader with steps, step 50 ms".
std::string title_of(const Observation& observation);
/// "reading samples from storage, 42.1 % of a step".
std::string cause_and_share(const Finding& finding);
/// {"bottleneck", "input: storage reads, 42.1 % of the step time"}, {"evidence", ...}, {"potential
/// gain", "up to 1.73x: ..."}, {"fix", ...}, {"confirm by", ...}, {"next bottleneck", ...}, {"other
/// causes", ...}, {"step time", ...}, {"not evaluated", ...}. The first is always present.
std::vector<std::pair<std::string, std::string>> lines_of(const Diagnosed& one);

}  // namespace bench::diagnosis
