// The tables of a training report on a terminal. "" where there is nothing to show.
#pragma once

#include <string>

#include "core/units.h"
#include "results/reports/text_style.h"
#include "results/training/training_report.h"

namespace bench {

std::string runs_table(const TrainingGroup& group, const TextStyle& style);
std::string breakdown_table(const TrainingGroup& group, const TextStyle& style);
std::string memory_table(const TrainingGroup& group, const TextStyle& style);
std::string scaling_table(const TrainingReport& report, const Scaling& scaling,
                          const TextStyle& style);

/// "0.1079", "10.2 s", " [9.8 s, 10.6 s]"; "" for no value.
std::string number_text(double value);
std::string value_text(double value, Unit unit);
std::string interval_text(double low, double high, Unit unit);
/// "302.1 k", "2.1 M"; "" for no value.
std::string rate_number(double value);
/// "302.1 k tokens/s".
std::string rate_text(double value, const TrainingGroup& group);
/// "98.1 % [97.0, 99.2]"; "" for no value.
std::string efficiency_text(double value, double low, double high);
/// "forward", "exchange exposed".
std::string phase_words(const std::string& phase);

}  // namespace bench
