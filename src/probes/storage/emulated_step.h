// A step of training for those who have none at hand: a time to wait, as a host does whose
// accelerator is at work, or a fixed amount of work on memory, which suffers when others use the
// host.
#pragma once

#include <cstdint>
#include <vector>

#include "core/names.h"
#include "core/units.h"

namespace bench::storage {

enum class StepKind { sleep, work };
inline constexpr NameTable<StepKind, 2> kStepKinds{
    {{{StepKind::sleep, "sleep"}, {StepKind::work, "work"}}}};

class EmulatedStep {
 public:
  /// Of about this length; finds out how much work that is.
  EmulatedStep(StepKind kind, Seconds length);
  /// How long it took.
  Seconds run();

 private:
  void pass();

  StepKind kind_;
  Seconds length_;
  std::int64_t passes_ = 1;
  std::vector<double> memory_ = {};
};

}  // namespace bench::storage
