// A training report for people: on a terminal, and as a page that stands alone.
#pragma once

#include <string>

#include "results/reports/text_style.h"
#include "results/training/training_report.h"

namespace bench {

std::string to_text(const TrainingReport& report, const TextStyle& style);
std::string to_html(const TrainingReport& report);

}  // namespace bench
