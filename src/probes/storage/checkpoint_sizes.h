// How large checkpoints of models are. Full states are those of MLPerf Storage v2.0 (model and
// optimizer as its workload writes them, rules section 2.2); weights are 2 bytes a parameter, bf16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::storage {

struct ModelSize {
  std::string name;  // "70b"
  double parameters = 0.0;
  double weights_bytes = 0.0;
  double full_bytes =
      0.0;  // weights, optimizer's state, master copies: what a training resumes from
};

const std::vector<ModelSize>& model_sizes();

/// `state` is "weights" or "full". Throws Error(input) with the nearest name of a model.
double checkpoint_bytes(const std::string& model, const std::string& state);

}  // namespace bench::storage
