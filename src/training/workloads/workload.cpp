#include "training/workloads/workload.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "core/text.h"
#include "training/models/detect.h"
#include "training/models/dlrm.h"
#include "training/models/flow.h"
#include "training/models/hstu.h"
#include "training/models/image.h"
#include "training/models/llm.h"
#include "training/models/lora.h"
#include "training/models/moe.h"
#include "training/models/rgat.h"
#include "training/models/two_tower.h"
#include "training/workloads/detect.h"
#include "training/workloads/dlrm.h"
#include "training/workloads/flow.h"
#include "training/workloads/grpo.h"
#include "training/workloads/hstu.h"
#include "training/workloads/image.h"
#include "training/workloads/llm.h"
#include "training/workloads/lora.h"
#include "training/workloads/moe.h"
#include "training/workloads/rgat.h"
#include "training/workloads/two_tower.h"

namespace bench::training {

Json mllog_options(const AdamwOptions& options) {
  return {{"opt_name", "adamw"},
          {"opt_adamw_beta_1", options.beta1},
          {"opt_adamw_beta_2", options.beta2},
          {"opt_adamw_epsilon", options.epsilon},
          {"opt_adamw_weight_decay", options.decay}};
}

Model Workload::model_part(const ModelPart& part, std::int64_t samples, Dtype dtype,
                           bool recompute) const {
  if (!part.is_whole())
    throw Error(ErrorKind::input,
                "the model of workload " + name() + " cannot be divided over ranks",
                "remove tp, cp, pp, ep and zero above 1, or train llm");
  return model(samples, dtype, recompute);
}

Json mllog_options(const SgdOptions& options) {
  return {{"opt_name", "sgd"},
          {"sgd_opt_momentum", options.momentum},
          {"sgd_opt_weight_decay", options.decay}};
}

Recipe large_recipe(std::int64_t batch, std::int64_t horizon, Schedule schedule) {
  schedule.shape = Schedule::Shape::cosine;
  schedule.horizon = horizon;
  return {.batch = batch,
          .horizon = horizon,
          .schedule = schedule,
          .clip = 1.0,
          .evaluation_every = horizon / 40,
          .evaluation_samples = 1024,
          .micro_batch = 1};
}

namespace {

using Make = std::function<std::unique_ptr<Workload>(
    const std::string& preset, std::uint64_t seed, std::int64_t sequence, const DataChoice& data)>;

using MakeBase =
    std::function<std::unique_ptr<Workload>(const std::string& preset, std::int64_t sequence)>;

struct Entry {
  std::string name;
  std::vector<std::string> presets;
  Make make;
  MakeBase make_base = {};
};

Make without_sequences(const std::string& name,
                       std::unique_ptr<Workload> (*make)(const std::string&, std::uint64_t,
                                                         const DataChoice&)) {
  return [name, make](const std::string& preset, std::uint64_t seed, std::int64_t sequence,
                      const DataChoice& data) {
    if (sequence > 0)
      throw Error(
          ErrorKind::input,
          "workload " + name + " has no sequences, but sequence is " + std::to_string(sequence),
          "remove the parameter sequence");
    return make(preset, seed, data);
  };
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {"llm", llm_presets(), make_llm_workload},
      {"lora", lora_presets(), make_lora_workload, make_lora_base_workload},
      {"dlrm", dlrm_presets(), without_sequences("dlrm", make_dlrm_workload)},
      {"two_tower", two_tower_presets(), without_sequences("two_tower", make_two_tower_workload)},
      {"hstu", hstu_presets(), without_sequences("hstu", make_hstu_workload)},
      {"moe", moe_presets(),
       [](const std::string& preset, std::uint64_t seed, std::int64_t sequence,
          const DataChoice& data) { return make_moe_workload(preset, seed, sequence, data); }},
      {"flow", flow_presets(), without_sequences("flow", make_flow_workload)},
      {"detect", detect_presets(), without_sequences("detect", make_detect_workload)},
      {"image", image_presets(), without_sequences("image", make_image_workload)},
      {"rgat", rgat_presets(), without_sequences("rgat", make_rgat_workload)},
      {"grpo", grpo_presets(), without_sequences("grpo", make_grpo_workload),
       [](const std::string& preset, std::int64_t) { return make_grpo_base_workload(preset); }},
  };
  return all;
}

const Entry& entry(const std::string& name) {
  for (const Entry& one : entries())
    if (one.name == name) return one;
  const auto known = workload_names();
  throw Error(ErrorKind::input, "unknown workload '" + name + "'",
              "use one of " + join(known, ", ") + "." + did_you_mean(name, known));
}

const Entry& entry(const std::string& name, const std::string& preset) {
  const Entry& which = entry(name);
  const auto& presets = which.presets;
  if (std::find(presets.begin(), presets.end(), preset) == presets.end())
    throw Error(ErrorKind::input, "workload " + name + " has no preset '" + preset + "'",
                "use one of " + join(presets, ", ") + "." + did_you_mean(preset, presets));
  return which;
}

}  // namespace

std::unique_ptr<Workload> make_workload(const std::string& name, const std::string& preset,
                                        std::uint64_t seed, std::int64_t sequence,
                                        const DataChoice& data) {
  return entry(name, preset).make(preset, seed, sequence, data);
}

std::unique_ptr<Workload> make_base_workload(const std::string& name, const std::string& preset,
                                             std::int64_t sequence) {
  const Entry& which = entry(name, preset);
  return which.make_base ? which.make_base(preset, sequence) : nullptr;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Entry& one : entries()) names.push_back(one.name);
  return names;
}

}  // namespace bench::training
