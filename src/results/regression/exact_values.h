// Values that must be equal in every run, such as device counts: compared, not tested.
#pragma once

#include <optional>

#include "results/regression/candidate.h"

namespace bench {

struct ExactChange {
  Judged judged;
  Change change;
};

/// The last difference between neighbours, reported until someone decides on it; nothing if all are
/// equal. The member must outlive it.
std::optional<ExactChange> exact_change(const Member& member);

}  // namespace bench
