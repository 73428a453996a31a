#include "probes/training/trainer/utilization.h"

namespace bench::training {

double hardware_flops(const Graph& graph) {
  double flops = 0.0;
  for (const Node& node : graph.nodes()) {
    const double forward = node.op->flops();
    flops += 3.0 * forward;
    if (node.segment >= 0) flops += forward;
    // Two products forward, and Q K^T once more beside the four of the backward pass.
    if (node.op->name() == "attention") flops += 0.5 * forward;
  }
  return flops;
}

}  // namespace bench::training
