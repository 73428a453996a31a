#include "probes/training/weight_export.h"

#include <algorithm>
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

constexpr std::size_t kPiece = std::size_t{1} << 20;  // elements that are decoded at once

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
    const std::size_t size = size_of(tensor.view.dtype);
    std::vector<double> values;
    for (std::size_t at = 0; at < to.size(); at += kPiece) {
      values.resize(std::min(kPiece, to.size() - at));
      decode(bytes.all().data() + at * size, tensor.view.dtype, false, values);
      std::ranges::transform(values, to.begin() + static_cast<std::ptrdiff_t>(at),
                             [](double value) { return static_cast<float>(value); });
    }
  };
}

}  // namespace

std::string why_not_exported(State& state, const training::ModelSplit& split,
                             const std::string& folder) {
  if (folder.empty()) return "";
  const std::string workload = state.text("workload");
  if (workload != "llm" && workload != "grpo")
    return "weights of workload " + workload + " cannot be exported: use llm or grpo";
  if (split.divides_model())
    return "weights of a divided model cannot be exported: remove tp, cp, pp, ep and zero above 1";
  together(state.group(), [&] {
    if (state.group().rank() == 0) training::prepare_export(folder);
  });
  return "";
}

void write_weights(State& state, const training::Workload& workload, training::Trainer& trainer,
                   const std::string& folder) {
  if (folder.empty()) return;
  Json facts = nullptr;
  const auto write = [&] {
    if (state.group().rank() != 0) return;
    const training::LlmShape* shape = workload.llm_shape();
    training::require(shape != nullptr, "export", workload.name() + " has no shape of an llm");
    const Dtype dtype = dtype_from(state.text("export_dtype"));
    const training::ExportedLlm exported =
        training::export_llm(folder, *shape, values_of(trainer), dtype,
                             {{"format", "pt"},
                              {"workload", workload.name()},
                              {"preset", workload.preset()},
                              {"benchctl", std::string(version())}});
    facts = {{"folder", folder},
             {"bytes", exported.bytes},
             {"seconds", exported.seconds},
             {"sha256", exported.sha256},
             {"layout", exported.layout},
             {"dtype", to_string(dtype)},
             {"trained_in", state.text("dtype")}};
  };
  const Conditions conditions = watched(state.device(), state.group(), Worker::threads,
                                        [&] { together(state.group(), write); });
  const double rate =
      facts.is_null() ? 0.0 : facts["bytes"].get<double>() / facts["seconds"].get<double>();
  state.under(conditions).value("export_rate", largest(state.group(), rate));
  if (!facts.is_null()) state.facts("exported_weights", facts);
}

}  // namespace bench
