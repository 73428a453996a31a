// Which processes on this machine are ours: what they do is part of the job, not a disturbance.
#pragma once

#include <set>

#include "probes/group.h"

namespace bench {

/// The process ids of the group's ranks on rank 0's machine, at rank 0; empty elsewhere. Every rank
/// calls it.
std::set<int> processes_here(Group& group);

}  // namespace bench
