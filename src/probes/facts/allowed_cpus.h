// The processors that the calling thread may run on: a launcher, a binding or a container makes
// them a part of the host.
#pragma once

#include <vector>

namespace bench {

/// By its affinity mask, ascending; hardware threads of one core are several. Throws
/// Error(environment) where the kernel does not tell.
std::vector<int> allowed_cpus();

}  // namespace bench
