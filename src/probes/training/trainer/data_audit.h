// Whether ranks train on the data they should. Looks at one step: what lies in the lanes' inputs,
// and what tables were looked up by, is compared with the same samples read again; samples must not
// have been seen before under another number, where they never come again; and each rank's part is
// made again by the next rank and compared by checksum.
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
  /// All must outlive it.
  DataAudit(Workload& workload, const Model& model, const Replica& replica,
            const Evaluator& evaluator, const BatchSplit& split)
      : workload_(workload),
        model_(model),
        replica_(replica),
        evaluator_(evaluator),
        split_(split) {}

  /// Right after step `step`, on every rank. "" where everything is as it should be.
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
