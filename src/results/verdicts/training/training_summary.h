// Text shared by all forms of a training report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/units.h"
#include "results/run/banded_figures.h"
#include "results/verdicts/training/training_report.h"

namespace bench {

/// Disclaimer of every form of the report.
std::string note_of(const TrainingReport& report);

/// Summary lines of a group: {"time to train", "10.2 s [9.8 s, 10.6 s], " "olympic mean: ..."},
/// {"floor", ...}, ... External names are not sanitised.
std::vector<std::pair<std::string, std::string>> group_lines(const TrainingGroup& group);

/// "tokens", "samples".
std::string items_word(const TrainingGroup& group);
/// "llm tiny, f32, 1 rank of 2 threads, batch 32".
std::string setup_words(const TrainingGroup& group);
/// Description of the mean, or why there is none: "olympic mean of 3 of 5 runs, without the fastest
/// and the slowest; 95 % confidence interval (Yuen's trimmed mean)". And what became of resumed
/// runs.
std::string mean_words(const TrainingGroup& group);
/// "resumed from the checkpoint after step 120"; "" for a run in one piece.
std::string resumed_words(const TrainingRun& run);
/// The peak that MFU refers to; "" if unknown.
std::string peak_words(const TrainingGroup& group);
/// group.flops relative to the measured GEMM rate; kNoValue if not measured.
double of_gemm(const TrainingGroup& group);

/// Of the runs that count and of the scalings, by group.
std::vector<BandedFigure> banded_figures(const TrainingReport& report);

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
