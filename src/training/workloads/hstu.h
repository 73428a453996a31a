// Training of HSTU, a sequential recommender, on histories of users whose tastes change by a known
// law (sources/taste_model.h). Quality is the gap between the model's expected AUC and that of the
// law's forward filter on the same events. The seed draws initial weights and training histories;
// the law and the evaluation histories are the same for all seeds.
#pragma once

#include <memory>
#include <string>

#include "training/models/hstu.h"
#include "training/sources/taste_model.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/hstu.h is trained.
struct HstuSetting {
  HstuShape shape = {};
  TasteOptions law = {};  // except shape and seed
  Recipe recipe = {};
  AdamwOptions adamw = {};

  /// The law of the histories for this shape.
  TasteOptions histories(std::uint64_t seed) const;
};
/// Throws Error(input) as hstu_preset() does.
HstuSetting hstu_setting(const std::string& preset);

/// Throws Error(input) for an unknown preset, listing those of models/hstu.h, and for files,
/// vocabulary or table_rows in `data`: hstu trains on generated histories only. Throws as
/// FiniteOrder does for `data.samples`.
std::unique_ptr<Workload> make_hstu_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_hstu_workload(const std::string& preset, const HstuSetting& setting,
                                             std::uint64_t seed, const DataChoice& data = {});

}  // namespace bench::training
