#include "probes/training/trainer/utilization.h"

namespace bench::training {

double hardware_flops(const Plan& plan) {
  const auto& nodes = plan.graph->nodes();
  double flops = 0.0;
  for (const Node& node : nodes) {
    const double forward = node.op->flops();
    flops += 3.0 * forward;
    // Two GEMMs forward, and Q K^T again in addition to the four of the backward pass.
    if (node.op->name() == "attention") flops += 0.5 * forward;
  }
  for (const Action& action : plan.actions)  // only parts of a segment are recomputed
    if (action.phase == Phase::recompute)
      flops += nodes[static_cast<std::size_t>(action.node)].op->flops();
  return flops;
}

}  // namespace bench::training
