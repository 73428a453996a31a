// The records of each training job of a run, sorted by what they are about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/job_results.h"
#include "results/series.h"
#include "results/training/training_run.h"

namespace bench {

/// What a job told last.
struct TrainingRecords {
  Json facts = Json::object();  // all of topic "training", the later over the earlier
  std::map<std::string, const Chunk*> chunks = {};  // by name
};
std::map<std::string, TrainingRecords> training_records(const RunRecords& run);

std::vector<CurvePoint> curve_of(const TrainingRecords& records);
std::vector<TrainingPhase> breakdown_of(const TrainingRecords& records);
std::vector<TrainingMemory> memory_of(const TrainingRecords& records);

}  // namespace bench
