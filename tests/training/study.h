// For studies of whole trainings that are run by hand: what was asked for, and each evaluation.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "training/trainer/trainer.h"

namespace bench::training {

/// The number in a variable of the environment, or `otherwise`.
inline double asked_number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}
inline std::int64_t asked_count(const char* name, std::int64_t otherwise) {
  return static_cast<std::int64_t>(asked_number(name, static_cast<double>(otherwise)));
}

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
