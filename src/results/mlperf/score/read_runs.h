// Reads the data needed for scores from logs, in parallel.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/score/entry_score.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

/// One element per log, those of entries first. `ruleset`: a round, or "auto": then all logs use
/// one round, the newest that any log belongs to by benchmark and date, among the rounds with all
/// benchmarks of the submitters' folders. (A submission may contain results of an earlier round.)
/// Throws Error(input) for an unknown round.
std::vector<ReadRun> read_runs(const Submission& submission, const std::string& ruleset);

}  // namespace bench::mlperf
