// Checks that ranks train on the right data. For one step, the lanes' inputs and the lookup IDs are
// compared with the same samples read again; if the source never repeats samples, none may have
// been seen under another number; and the next rank regenerates each rank's part and compares
// checksums.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/training/trainer/batch_split.h"
#include "probes/training/trainer/evaluator.h"

namespace bench::training {

class DataAudit {
 public:
  /// All arguments must outlive this object.
  DataAudit(Workload& workload, const Model& model, const Replica& replica,
            const Evaluator& evaluator, const BatchSplit& split)
      : workload_(workload),
        model_(model),
        replica_(replica),
        evaluator_(evaluator),
        split_(split) {}

  /// Call on every rank right after step `step`. Returns the fault, or "".
  std::string check(std::int64_t step, Group& group);

 private:
  std::string check_own_data(std::int64_t step, int rank);
  std::string compare_inputs(std::int64_t step, int rank) const;
  std::string find_repeated_sample(std::int64_t step, int rank);
  std::string compare_next_rank(std::int64_t step, Group& group) const;

  Workload& workload_;
  const Model& model_;
  const Replica& replica_;
  const Evaluator& evaluator_;
  const BatchSplit& split_;
  std::unordered_map<std::uint64_t, std::uint64_t> seen_ = {};  // sample's number by its contents
};

}  // namespace bench::training
