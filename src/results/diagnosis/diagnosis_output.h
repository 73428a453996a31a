// Diagnoses for people: what holds a training up, why that is said, what mending
// it can gain, how to make sure, and what comes next. Nothing is decided here: all of it is told by
// diagnosis.h. Equal diagnoses give equal bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/diagnosis/diagnosis.h"
#include "results/pages/page.h"
#include "results/reports/text_style.h"

namespace bench::diagnosis {

/// A section of a report, a block for each; "" for none. Safe for a terminal.
std::string to_text(const std::vector<Diagnosed>& list, const TextStyle& style);

/// A section of a page, with the time of a step of each as a bar; nothing for none.
void add_to_page(const std::vector<Diagnosed>& list, Page& page);

/// The rules in their order as a table in Markdown: docs/diagnosis.md has it word by word.
std::string rules_table();
// What text and page say in the same words; names from outside stand in them as they are.

/// "images, a loader with steps, step 50 ms".
std::string title_of(const Observation& observation);
/// "reading samples from storage, 42.1 % of a step".
std::string cause_and_share(const Finding& finding);
/// {"bottleneck", "reading samples from storage, 42.1 % of a step"}, {"evidence", ...},
/// {"mended", "at most 1.73 times as fast: ..."}, {"fix", ...}, {"make sure", ...}, {"then", ...},
/// {"beside it", ...}, {"a step", ...}, {"not judged", ...}. The first is always there.
std::vector<std::pair<std::string, std::string>> lines_of(const Diagnosed& one);

}  // namespace bench::diagnosis
