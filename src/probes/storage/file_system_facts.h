// What is known of the file system and the device under a folder, from the kernel's files. What is
// not known is absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/system_files.h"

namespace bench::storage {

struct FileSystemFacts {
  std::string type = {};         // "ext4", "nfs"; "0x..." where its number is not one we know
  std::uint64_t free_bytes = 0;  // that this user may fill
  std::string device = {};       // "254:0", the kernel's number; "" where there is no block device
  bool memory = false;           // its files lie in memory and nowhere else
  bool network = false;          // behind it is a server with a cache of its own
};

/// Throws Error(environment) where the folder cannot be looked at.
FileSystemFacts file_system_of(const std::filesystem::path& folder);
Json to_json(const FileSystemFacts& facts);

/// Bytes that the block device moved since it was there; of everybody who uses it.
struct DeviceTraffic {
  double read = 0.0;
  double written = 0.0;
};
/// Nothing where the kernel keeps no such account of this device.
std::optional<DeviceTraffic> traffic_of(const FileSystemFacts& facts,
                                        const SystemFiles& files = SystemFiles());

/// Memory that programs may still take on this host; nothing where the kernel does not tell.
std::optional<double> available_memory(const SystemFiles& files = SystemFiles());
/// All of it.
std::optional<double> total_memory(const SystemFiles& files = SystemFiles());

/// Whether this file system keeps zeros in no space, as one does that compresses or finds holes:
/// tools that write zeros measure nothing there. Tries it with a small file. Nothing where it
/// cannot be told.
std::optional<bool> stores_zeros_in_no_space(const std::filesystem::path& folder);

}  // namespace bench::storage
