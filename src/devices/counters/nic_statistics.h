// What a network card counts alongside what the kernel does, by ethtool's call: pause frames,
// frames that it discarded or found damaged. Every driver has names of its own for them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/system_files.h"
#include "devices/counters/counter_source.h"

namespace bench {

/// Name -> count, of one interface; empty where its driver counts nothing.
using NicStatistics = std::map<std::string, double>;
using ReadNic = std::function<NicStatistics(const std::string& interface)>;

/// Asks the driver (SIOCETHTOOL, which needs no rights for this).
NicStatistics read_nic(const std::string& interface);

/// "eth0.pauses_received", "pauses_sent", "discards_received", "crc_errors" of the interfaces that
/// are hardware, as far as their drivers count them; an empty pointer where none does.
std::unique_ptr<CounterSource> nic_counters(const SystemFiles& files, const ReadNic& read);

/// InfiniBand and RoCE ports; an empty pointer where the host has none.
std::unique_ptr<CounterSource> infiniband_counters(const SystemFiles& files);

}  // namespace bench
