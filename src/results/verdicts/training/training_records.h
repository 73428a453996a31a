// Records of each training job of a run, grouped by topic.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run/job_results.h"
#include "results/run/series.h"
#include "results/verdicts/training/training_run.h"

namespace bench {

/// The last records of a job.
struct TrainingRecords {
  Json facts = Json::object();  // all of topic "training", the later over the earlier
  std::map<std::string, const Chunk*> chunks = {};  // by name
};
std::map<std::string, TrainingRecords> training_records(const RunRecords& run);

std::vector<CurvePoint> curve_of(const TrainingRecords& records);
std::vector<TrainingPhase> breakdown_of(const TrainingRecords& records);
std::vector<TrainingMemory> memory_of(const TrainingRecords& records);

}  // namespace bench
