// A lane of a workload's untrained model, for tests of samples and evaluations.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "training/engine/lane.h"
#include "training/host/host_kernels.h"
#include "training/workloads/workload.h"

namespace bench::training {

struct FreshLane {
  std::unique_ptr<Workload> workload;
  Model model;
  Plan plan;
  Weights weights;
  Lane lane;

  FreshLane(std::unique_ptr<Workload> of, std::int64_t samples, Dtype dtype = Dtype::f32)
      : workload(std::move(of)),
        model(workload->model(samples, dtype, false)),
        plan(make_plan(*model.graph, false)),
        weights(plan, 1),
        lane(plan, weights, [](Dtype type) { return host_kernels(type); }) {}
};

/// NaN if it has no such part.
inline double part_of(const Quality& quality, const std::string& name) {
  for (const auto& [found, value] : quality.parts)
    if (found == name) return value;
  return std::nan("");
}

}  // namespace bench::training
