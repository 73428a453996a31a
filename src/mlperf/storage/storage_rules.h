// The rules of MLPerf Storage that files can show, with their numbers in its Rules.md, and those
// that are ours.
#pragma once

#include <string_view>
#include <vector>

#include "mlperf/finding.h"

namespace bench::mlperf::storage {

/// Of round 3.0 when it closed, or as the working group tightened them afterwards.
enum class Edition { closed_round, current };

struct StorageRule {
  std::string_view id;    // "3.3.2"; ours have words: "ranks.missing"
  std::string_view what;  // one sentence
  std::string_view how;   // what is computed from which files
  Severity closed_round = Severity::error;
  Severity current = Severity::error;

  Severity severity(Edition edition) const {
    return edition == Edition::current ? current : closed_round;
  }
};

/// In the order of the rules document, then ours.
const std::vector<StorageRule>& storage_rules();
/// Throws Error(internal) for an unknown one.
const StorageRule& storage_rule(std::string_view id);

/// What a workload of training must be.
struct TrainingModel {
  std::string_view name;
  std::string_view accelerator;
  int batch = 0;
  double record_bytes = 0.0;
  double samples_a_file = 1.0;
  double compute_s = 0.0;  // of a batch
  int epochs = 0;
  double least_utilisation = 0.0;  // of the accelerator, from 0 to 1
};
/// Null for a pair that the rounds do not have.
const TrainingModel* training_model(std::string_view name, std::string_view accelerator);
/// The first of the model: record and least utilisation are the same for all accelerators. Names
/// may end with an accelerator: unet3d_h100. Null for a model that no round has.
const TrainingModel* any_training_model(std::string_view name);
/// Whether the model is in this round's closed and open divisions.
bool is_training_model(std::string_view name, int round);

/// What a checkpoint of a model is: Table 2 of the rules.
struct CheckpointModel {
  std::string_view size;  // "8b"
  int processes = 0;      // in the closed division
  int group = 1;          // processes of one data-parallel instance
};
/// By the size in the name of the model, such as llama3-8b; null if none or several fit.
const CheckpointModel* checkpoint_model(std::string_view name);

}  // namespace bench::mlperf::storage
