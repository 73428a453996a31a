// What the kernel says about this machine's memory: caches, nodes, and how much may be allocated.
// `root` stands for "/" and is another folder in tests; what cannot be read is left out.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "probes/device/memory.h"

namespace bench {

class HostCpus;
class HostThreadWatch;

/// Data and unified caches of the first of `cores`, from level 1 up.
std::vector<CacheLevel> read_caches(const std::vector<int>& cores,
                                    const std::filesystem::path& root = "/");

/// Every node that has memory or one of `cores`.
std::vector<MemoryNode> read_memory_nodes(const std::vector<int>& cores,
                                          const std::filesystem::path& root = "/");

/// MemAvailable, or less where a control group (version 1 or 2) of this process allows less; 0 when
/// nothing can be read.
double read_available_bytes(const std::filesystem::path& root = "/");

std::unique_ptr<MemorySystem> make_host_memory(const HostCpus& cpus, HostThreadWatch& watch);

}  // namespace bench
