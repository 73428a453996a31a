// Kernel counters of a host: CPU time, memory, disks, network, InfiniBand, stalls, power. Each kind
// is a separate source, because some are cheap and others cost a firmware call. Devices are found
// once; one that vanishes reads as NaN.
#pragma once

#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "devices/counters/nic_statistics.h"

namespace bench {

/// All sources of this host. `files` is copied. `nic` reads NICs, which no file covers; they are
/// skipped if it is empty.
CounterSources host_counters(const SystemFiles& files = SystemFiles(), const ReadNic& nic = {});

// Null if the host has or shows no such thing.
std::unique_ptr<CounterSource> cpu_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> memory_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> disk_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> network_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> power_counters(const SystemFiles& files);

}  // namespace bench
