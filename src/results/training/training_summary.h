// What every form of a training report says in the same words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/units.h"
#include "results/training/training_report.h"

namespace bench {

/// What every form of the report says of what it is not.
std::string note_of(const TrainingReport& report);

/// What there is to say of a group beside its tables: {"time to train", "10.2 s [9.8 s, 10.6 s], "
/// "olympic mean: ..."}, {"floor", ...}, ... Names from outside stand in it as they are.
std::vector<std::pair<std::string, std::string>> group_lines(const TrainingGroup& group);

/// "tokens", "samples".
std::string items_word(const TrainingGroup& group);
/// "llm tiny, f32, 1 rank of 2 threads, batch 32".
std::string setup_words(const TrainingGroup& group);
/// What the mean is of, or why there is none: "mean of the 3 runs left without the fastest and the
/// slowest; 95 % interval by Yuen's standard error".
std::string mean_words(const OlympicMean& time);
/// The peak that MFU is of, as its facts name it; "" where they do not.
std::string peak_words(const TrainingGroup& group);
/// group.flops as a share of the measured products' rate; kNoValue where there is none.
double of_gemm(const TrainingGroup& group);

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
