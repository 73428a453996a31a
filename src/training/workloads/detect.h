// Training of a one-stage detector on drawn scenes whose labels are off by a known amount
// (sources/drawn_scenes.h). Quality is the gap between the detector's COCO mAP and that of the
// objects' true boxes against the same labels. The seed draws initial weights and training scenes;
// the law and the evaluation scenes are the same for all seeds.
#pragma once

#include <memory>
#include <string>

#include "training/models/detect.h"
#include "training/sources/drawn_scenes.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/detect.h is trained.
struct DetectSetting {
  DetectShape shape = {};
  SceneLaw law = {};  // except shape and seed
  Recipe recipe = {};
  AdamwOptions adamw = {};

  /// The law of the scenes for this shape.
  SceneLaw scenes(std::uint64_t seed) const;
};
/// Throws Error(input) as detect_preset() does.
DetectSetting detect_setting(const std::string& preset);

/// Throws Error(input) for an unknown preset, listing those of models/detect.h, and for files,
/// vocabulary or table_rows in `data`: detect trains on generated scenes only. Throws as
/// FiniteOrder does for `data.samples`.
std::unique_ptr<Workload> make_detect_workload(const std::string& preset, std::uint64_t seed,
                                               const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_detect_workload(const std::string& preset,
                                               const DetectSetting& setting, std::uint64_t seed,
                                               const DataChoice& data = {});

}  // namespace bench::training
