#include "probes/training/backends/cuda/cudnn/execution_plan.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace bench::cudnn {
namespace {

std::vector<Descriptor> proposed_in(HeuristicMode mode, const Library& library,
                                    const BackendGraph& graph, const Descriptor* device) {
  Descriptor heuristics(library, DescriptorType::engine_heuristics, "heuristics");
  heuristics.set(Attribute::heuristics_graph, graph.descriptor())
      .set(Attribute::heuristics_mode, mode);
  if (device != nullptr) heuristics.set(Attribute::heuristics_device, *device);
  heuristics.finalize();
  const std::int64_t room =
      heuristics.count(Attribute::heuristics_results, AttributeType::descriptor);
  std::vector<Descriptor> engines;
  std::vector<void*> filled;
  for (std::int64_t i = 0; i < room; ++i)
    filled.push_back(
        engines.emplace_back(library, DescriptorType::engine_configuration, "engine").get());
  const std::int64_t found = heuristics.fill(Attribute::heuristics_results, filled);
  while (static_cast<std::int64_t>(engines.size()) > found) engines.pop_back();
  return engines;
}

}  // namespace

Descriptor described_device(const Library& library, const std::string& json) {
  Descriptor device(library, DescriptorType::device_properties, "device properties");
  device.set(Attribute::device_json, json).finalize();
  return device;
}

std::vector<Descriptor> proposed_engines(const Library& library, const BackendGraph& graph,
                                         const Descriptor* device) {
  std::vector<Descriptor> engines = proposed_in(HeuristicMode::a, library, graph, device);
  if (engines.empty()) engines = proposed_in(HeuristicMode::fallback, library, graph, device);
  if (engines.empty()) throw Error(ErrorKind::environment, "cuDNN has no engine for the graph");
  return engines;
}

ExecutionPlan::ExecutionPlan(const Library& library, const OperationGraph& graph)
    : library_(library), graph_(library, graph) {
  std::copy_if(graph.tensors.begin(), graph.tensors.end(), std::back_inserter(constants_),
               [](const GraphTensor& tensor) { return tensor.value.has_value(); });
  std::string reasons;
  for (const Descriptor& engine : proposed_engines(library, graph_)) try {
      auto plan = std::make_unique<Descriptor>(library, DescriptorType::execution_plan, "execution plan");
      plan->set(Attribute::plan_configuration, engine).finalize();
      workspace_bytes_ = plan->number(Attribute::plan_workspace_bytes);
      plan_ = std::move(plan);
      return;
    } catch (const Error& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  throw Error(ErrorKind::environment, "no cuDNN engine supports the graph: " + reasons);
}

void ExecutionPlan::execute(Handle handle,
                            const std::vector<std::pair<std::int64_t, void*>>& pointers,
                            void* workspace) const {
  std::vector<std::int64_t> ids;
  std::vector<void*> places;
  for (const auto& [id, pointer] : pointers) {
    ids.push_back(id);
    places.push_back(pointer);
  }
  std::vector<float> values;
  values.reserve(constants_.size());  // pointers to them must stay
  for (const GraphTensor& constant : constants_) {
    ids.push_back(constant.id);
    places.push_back(&values.emplace_back(*constant.value));
  }
  Descriptor pack(library_, DescriptorType::variant_pack, "variant pack");
  pack.set(Attribute::pack_ids, ids)
      .set(Attribute::pack_pointers, places, AttributeType::pointer)
      .set(Attribute::pack_workspace, workspace)
      .finalize();
  const Status status = library_.execute(handle, plan_->get(), pack.get());
  if (status != kSuccess) library_.check(status, "execute graph");
}

}  // namespace bench::cudnn
