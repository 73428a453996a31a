// Pretraining of a mixture of experts on text that changes between languages, whose floor is known
// (sources/regimes.h): a Llama block with routed experts, AdamW. Quality is the gap to the floor in
// nats per token; its parts include how evenly the experts are used. The seed draws initial weights
// and training samples; languages and evaluation samples are the same for all seeds.
#pragma once

#include <memory>
#include <string>

#include "training/models/moe.h"
#include "training/sources/regimes.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/moe.h is trained.
struct MoeSetting {
  MoeShape shape = {};
  int regimes = 0;
  Recipe recipe = {};
  AdamwOptions adamw = {};

  /// The generated text for this shape.
  RegimeOptions text(std::uint64_t seed) const;
};
/// Throws Error(input) as moe_preset() does.
MoeSetting moe_setting(const std::string& preset);

/// `sequence`: tokens of a sample instead of the preset's (0); the target is then provisional.
/// Throws Error(input) for an unknown preset, listing those of models/moe.h, for a sequence longer
/// than the preset's or of one token, and for files, vocabulary or table_rows in `data`: moe trains
/// on generated text only. Throws as FiniteOrder does for `data.samples`.
std::unique_ptr<Workload> make_moe_workload(const std::string& preset, std::uint64_t seed,
                                            std::int64_t sequence = 0, const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_moe_workload(const std::string& preset, const MoeSetting& setting,
                                            std::uint64_t seed, const DataChoice& data = {});

}  // namespace bench::training
