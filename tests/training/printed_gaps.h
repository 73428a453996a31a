// Prints the quality of each evaluation, for studies of whole trainings that are run by hand.
#pragma once

#include <cstdint>
#include <iostream>

#include "training/trainer/trainer.h"

namespace bench::training {

/// A line for each evaluation: steps of `batch` samples, gap and parts.
struct PrintedGaps final : RunObserver {
  explicit PrintedGaps(std::int64_t samples) : batch(samples) {}
  void evaluation_stop(std::int64_t samples, const Quality& quality) override {
    std::cout << "step " << samples / batch << " gap " << quality.gap;
    for (const auto& [name, value] : quality.parts) std::cout << " " << name << " " << value;
    std::cout << "\n";
  }
  std::int64_t batch;
};

}  // namespace bench::training
