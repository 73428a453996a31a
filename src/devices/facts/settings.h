// How the kernel of a host is set up, as far as it changes what is measured.
#pragma once

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// An object of single values by name ("governor", "sysctl.vm.swappiness", "mitigation.spectre_v2",
/// "iommu", "acs_redirecting_bridges"). "none" for what this kernel does not have, {"unreadable":
/// why} for what it has and does not tell us. `host`: what read_host_facts said.
Json read_settings(const SystemFiles& files, const Json& host);

/// The words of the kernel's command line without those that name a host, a disk or a file:
/// {"iommu": "pt", "quiet": "set"}; a word that is given several times has its values in order,
/// parted by commas. {"unreadable": why} where there is none.
Json read_kernel_options(const SystemFiles& files);

/// A file's text; "none" where there is no such file, {"unreadable": why} where it cannot be read.
Json text_or_why(const SystemFiles& files, const std::string& path);

/// "acs", "iommu" and "kernel_options": what stands between two PCI devices.
void add_bridge_facts(const SystemFiles& files, Json& facts);

}  // namespace bench
