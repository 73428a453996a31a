// Tables of a training report for the terminal; "" if empty.
#pragma once

#include <string>

#include "results/reports/text_style.h"
#include "results/training/training_report.h"
#include "results/training/training_scaling.h"

namespace bench {

std::string runs_table(const TrainingGroup& group, const TextStyle& style);
std::string breakdown_table(const TrainingGroup& group, const TextStyle& style);
std::string memory_table(const TrainingGroup& group, const TextStyle& style);
std::string scaling_table(const TrainingReport& report, const Scaling& scaling,
                          const TextStyle& style);

}  // namespace bench
