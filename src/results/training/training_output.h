// A training report for people and for programs: terminal, JSON (schemas/report_training.json), a
// page that stands alone, and logs in MLPerf's layout.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "results/reports/text_style.h"
#include "results/training/training_report.h"

namespace bench {

/// What every form of the report says of what it is not.
std::string note_of(const TrainingReport& report);

std::string to_text(const TrainingReport& report, const TextStyle& style);

/// {workload, preset, runs: [{seed, converged, quality, samples_to_target, seconds_to_target}],
/// olympic_mean_s, throughput, mfu} and more. With several groups these are null or of all groups,
/// and each stands in `groups` with the same keys.
Json to_json(const TrainingReport& report);

std::string to_html(const TrainingReport& report);

/// What there is to say of a group beside its tables: {"time to train", "10.2 s [9.8 s, 10.6 s], "
/// "olympic mean: ..."}, {"floor", ...}, ... Names from outside stand in it as they are.
std::vector<std::pair<std::string, std::string>> group_lines(const TrainingGroup& group);

/// "tokens", "samples".
std::string items_word(const TrainingGroup& group);
/// Whether a training of others was run, whose own log told all this (the probe `external`).
bool is_external(const TrainingGroup& group);
/// A training of benchctl on files that its job names.
bool on_files(const TrainingGroup& group);
/// "llm tiny, f32, 1 rank of 2 threads, batch 32".
std::string setup_words(const TrainingGroup& group);
/// What the mean is of, or why there is none: "mean of the 3 runs left without the fastest and the
/// slowest; 95 % interval by Yuen's standard error".
std::string mean_words(const OlympicMean& time);
/// The peak that MFU is of, as its facts name it; "" where they do not.
std::string peak_words(const TrainingGroup& group);
/// group.flops as a share of the measured products' rate; kNoValue where there is none.
double of_gemm(const TrainingGroup& group);

}  // namespace bench
