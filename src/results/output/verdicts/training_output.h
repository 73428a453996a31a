// Training report for the terminal and as a self-contained page.
#pragma once

#include <string>

#include "results/output/document/text_style.h"
#include "results/verdicts/training/training_report.h"
#include "results/verdicts/training/training_scaling.h"

namespace bench {

// Tables of a training report for the terminal; "" if empty.

std::string runs_table(const TrainingGroup& group, const TextStyle& style);
std::string breakdown_table(const TrainingGroup& group, const TextStyle& style);
std::string memory_table(const TrainingGroup& group, const TextStyle& style);
std::string scaling_table(const TrainingReport& report, const Scaling& scaling,
                          const TextStyle& style);

std::string to_text(const TrainingReport& report, const TextStyle& style);
std::string to_html(const TrainingReport& report);

}  // namespace bench
