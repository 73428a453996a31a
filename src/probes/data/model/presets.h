// Steps of accelerators that MLPerf Storage emulates (mlcommons/storage v2.0, its workload files):
// how long a device computes on a batch, and what a sample weighs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bench::data {

struct StepPreset {
  std::string_view name;
  double step_s = 0.0;
  std::uint64_t batch_size = 0;  // of one device
  double sample_bytes = 0.0;     // on the disk, on average
  double least_use = 0.0;        // of the device, that passes there
};

inline constexpr std::array<StepPreset, 6> kStepPresets{{
    {"resnet50_h100", 0.224, 400, 114660, 0.90},
    {"resnet50_a100", 0.435, 400, 114660, 0.90},
    {"unet3d_h100", 0.323, 7, 146600628, 0.90},
    {"unet3d_a100", 0.636, 7, 146600628, 0.90},
    {"cosmoflow_h100", 0.00350, 1, 2828486, 0.70},
    {"cosmoflow_a100", 0.00551, 1, 2828486, 0.70},
}};

/// Null for another name.
constexpr const StepPreset* step_preset(std::string_view name) {
  for (const StepPreset& preset : kStepPresets)
    if (preset.name == name) return &preset;
  return nullptr;
}

}  // namespace bench::data
