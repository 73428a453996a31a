// Ranks that are threads of this process: a Group with collectives whose ranks a test can look
// into.
#pragma once

#include <functional>

#include "devices/group.h"

namespace bench {

/// work(group) by `ranks` threads at once; throws what the lowest rank that failed has thrown. A
/// rank that throws ends the waiting of all others, by an Error of their own. Assertions of Catch2
/// belong to one thread: let the work return what is to be asserted.
void run_ranks(int ranks, const std::function<void(Group&)>& work);

}  // namespace bench
