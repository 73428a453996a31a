// Facts about the file system and the device of a folder, from the kernel's files. Unknown facts
// are absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/system_files.h"

namespace bench::storage {

struct FileSystemFacts {
  std::string type = {};         // "ext4", "nfs"; "0x..." for an unknown number
  std::uint64_t free_bytes = 0;  // available to this user
  std::string device = {};       // "254:0", the kernel's number; "" without a block device
  bool memory = false;           // its files are only in memory
  bool network = false;          // there is a server with its own cache
};

/// Throws Error(environment) if the folder cannot be examined.
FileSystemFacts file_system_of(const std::filesystem::path& folder);
Json to_json(const FileSystemFacts& facts);

/// Bytes that the block device transferred since boot, for all its users.
struct DeviceTraffic {
  double read = 0.0;
  double written = 0.0;
};
/// Nothing if the kernel keeps no statistics of this device.
std::optional<DeviceTraffic> traffic_of(const FileSystemFacts& facts,
                                        const SystemFiles& files = SystemFiles());

/// Memory that programs can still allocate on this host; nothing if the kernel does not report it.
std::optional<double> available_memory(const SystemFiles& files = SystemFiles());
/// All memory of this host.
std::optional<double> total_memory(const SystemFiles& files = SystemFiles());

/// Whether this file system stores zeros in no space, by compression or as holes: tools that write
/// zeros measure nothing there. Tries it with a small file. Nothing if unknown.
std::optional<bool> stores_zeros_in_no_space(const std::filesystem::path& folder);

}  // namespace bench::storage
