// Kernel settings of a host that affect measurements.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// Single values by name ("governor", "sysctl.vm.swappiness", "mitigation.spectre_v2", "iommu",
/// "acs_redirecting_bridges"). "none" for what this kernel lacks, {"unreadable": why} for what it
/// does not show us. `host`: from read_host_facts.
Json read_settings(const SystemFiles& files, const Json& host);

/// Options of the kernel command line, except those that name a host, disk or file: {"iommu": "pt",
/// "quiet": "set"}; the values of a repeated option are joined by commas. {"unreadable": why} if
/// there is none.
Json read_kernel_options(const SystemFiles& files);

/// A file's text; "none" if there is no such file, {"unreadable": why} if it cannot be read.
Json text_or_why(const SystemFiles& files, const std::string& path);

/// Adds "acs", "iommu" and "kernel_options": what lies between two PCI devices.
void add_bridge_facts(const SystemFiles& files, Json& facts);

/// A fact of read_host_facts, or {"unreadable": why}.
Json known_of_host(const Json& host, const char* key);

/// The selected word of "always [madvise] never"; nothing if there are no brackets.
std::optional<std::string> bracketed(const std::string& text);

}  // namespace bench
