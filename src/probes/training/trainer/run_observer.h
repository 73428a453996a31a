// Receives the events of a run as they happen, for MLPerf's log. Called on every rank.
#pragma once

#include <cstdint>

#include "probes/training/workloads/workload.h"

namespace bench::training {

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_start() {}
  /// Training between two evaluations, in samples trained on before it.
  virtual void block_start(std::int64_t) {}
  virtual void block_stop(std::int64_t) {}
  virtual void evaluation_start(std::int64_t) {}
  virtual void evaluation_stop(std::int64_t, const Quality&) {}
  virtual void run_stop(std::int64_t, bool /*converged*/) {}
};

}  // namespace bench::training
