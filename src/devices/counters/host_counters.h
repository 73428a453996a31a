// What a host's kernel counts, GPU or not: CPU time, memory, disks, network, InfiniBand, stalls,
// power. Each kind is a source of its own, because some may be read often and others cost a
// firmware call. Devices are found once; one that vanishes reads as NaN from then on.
#pragma once

#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "devices/counters/nic_statistics.h"

namespace bench {

/// All that this host has. `files` is copied; tests hand in a root of their own. `nic`: how network
/// cards are asked, which no file tells; they are not when it is empty.
CounterSources host_counters(const SystemFiles& files = SystemFiles(), const ReadNic& nic = {});

// The kinds; an empty pointer where the host has no such thing, or hides it.
std::unique_ptr<CounterSource> cpu_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> memory_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> disk_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> network_counters(const SystemFiles& files);
std::unique_ptr<CounterSource> power_counters(const SystemFiles& files);

}  // namespace bench
