// Training report for the terminal and as a self-contained page.
#pragma once

#include <string>

#include "results/reports/text_style.h"
#include "results/training/training_report.h"

namespace bench {

std::string to_text(const TrainingReport& report, const TextStyle& style);
std::string to_html(const TrainingReport& report);

}  // namespace bench
