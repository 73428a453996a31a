// Training of rectified flow by a diffusion transformer on captioned images whose law is known
// (sources/captioned_images.h). Quality is the gap between the validation loss, the mean of those
// at eight times, and the loss of the best velocity on the same images and noise. The seed draws
// initial weights and training samples; the law and the evaluation samples are the same for all
// seeds.
#pragma once

#include <memory>
#include <string>

#include "training/models/flow.h"
#include "training/sources/captioned_images.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/flow.h is trained.
struct FlowSetting {
  FlowShape shape = {};
  ImageLaw law = {};  // except shape and seed
  Recipe recipe = {};
  AdamwOptions adamw = {};

  /// The law of the images for this shape.
  ImageLaw images(std::uint64_t seed) const;
};
/// Throws Error(input) as flow_preset() does.
FlowSetting flow_setting(const std::string& preset);

/// Throws Error(input) for an unknown preset, listing those of models/flow.h, and for files,
/// vocabulary or table_rows in `data`: flow trains on generated images only. Throws as FiniteOrder
/// does for `data.samples`.
std::unique_ptr<Workload> make_flow_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_flow_workload(const std::string& preset, const FlowSetting& setting,
                                             std::uint64_t seed, const DataChoice& data = {});

}  // namespace bench::training
