// Values that must be equal from run to run, such as counts of devices: compared, not tested.
#pragma once

#include <optional>

#include "results/regression/candidate.h"

namespace bench {

struct ExactChange {
  Judged judged;
  Change change;
};

/// The last difference of neighbours, which stands until somebody has spoken; nothing where all are
/// equal. The member must outlive it.
std::optional<ExactChange> exact_change(const Member& member);

}  // namespace bench
