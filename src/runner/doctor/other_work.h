// Other work on the hosts, before they are measured: samples that it disturbs are discarded, and
// rounds of repeats do not help while it lasts.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "runner/doctor/host_state.h"

namespace bench {

/// "python3 (pid 4948) uses 1.0 CPUs" for each process that uses a tenth of a CPU; "" if none does.
std::string other_work_on(const HostState& host);

/// The same for several hosts, those with equal work together: "node[01-02]: ...".
std::vector<std::string> other_work_on(const std::vector<HostState>& hosts);

/// Warns of other work, or waits up to `wait` until there is none. Hosts that do not answer are
/// left to the run, which reports them. Throws Error(interrupted).
void report_other_work(const Inventory& inventory, Seconds wait);

}  // namespace bench
