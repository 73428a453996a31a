#include "probes/training/weight_export.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "core/elements.h"
#include "core/version.h"
#include "devices/group.h"
#include "probes/work_watch.h"
#include "training/checkpoint/llm_export.h"
#include "training/engine/host_bytes.h"

namespace bench {
namespace {

/// The parameters that the trainer's copy of the model has now.
training::LlmValues values_of(training::Trainer& trainer) {
  const training::Graph& graph = *trainer.plan().graph;
  std::map<std::string, int> ids;
  for (const int id : graph.parameters()) ids[graph.tensor(id).name] = id;
  return [ids, &trainer](const std::string& name, std::span<float> to) {
    const training::Replica& replica = trainer.replica();
    const training::NamedView tensor{name, replica.weights().view(trainer.plan(), ids.at(name)),
                                     replica.weights().memory().get()};
    const training::HostBytes bytes(tensor);
    std::vector<double> values(to.size());
    decode(bytes.all().data(), tensor.view.dtype, false, values);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(values[i]);
  };
}

}  // namespace

std::string why_not_exported(const State& state, const training::Workload& workload,
                             const training::ModelSplit& split) {
  if (!state.has("export")) return "";
  if (workload.llm_shape() == nullptr)
    return "weights of workload " + workload.name() + " cannot be exported: use llm or grpo";
  if (split.divides_model())
    return "weights of a divided model cannot be exported: remove tp, pp and zero above 1";
  return "";
}

Json write_weights(State& state, const training::Workload& workload, training::Trainer& trainer,
                   const std::string& folder) {
  if (folder.empty()) return nullptr;
  Json facts = nullptr;
  const auto write = [&] {
    if (state.group().rank() != 0) return;
    const Dtype dtype = dtype_from(state.text("export_dtype"));
    const training::ExportedLlm exported =
        training::export_llm(folder, *workload.llm_shape(), values_of(trainer), dtype,
                             {{"format", "pt"},
                              {"workload", workload.name()},
                              {"preset", workload.preset()},
                              {"benchctl", std::string(version())}});
    facts = {
        {"folder", folder},          {"bytes", exported.bytes},   {"seconds", exported.seconds},
        {"sha256", exported.sha256}, {"layout", exported.layout}, {"dtype", to_string(dtype)}};
  };
  const Conditions conditions = watched(state.device(), state.group(), Worker::threads,
                                        [&] { together(state.group(), write); });
  const double rate =
      facts.is_null() ? 0.0 : facts["bytes"].get<double>() / facts["seconds"].get<double>();
  state.under(conditions).value("export_rate", largest(state.group(), rate));
  return facts;
}

}  // namespace bench
