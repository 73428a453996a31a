// How much of a file the kernel keeps in memory, and how to evict it. Caches below the guest (a
// hypervisor's, a file server's, a device's) are neither seen nor emptied.
#pragma once

#include <cstdint>
#include <filesystem>

namespace bench {

struct Residence {
  std::uint64_t bytes = 0;     // of the files
  std::uint64_t resident = 0;  // in whole pages, by mincore(2)
  double share() const {
    return bytes == 0 ? 0.0 : static_cast<double>(resident) / static_cast<double>(bytes);
  }
};

/// A share above this is a warm cache, not a cold one.
inline constexpr double kColdShare = 0.01;

/// Throws Error(environment).
Residence residence(const std::filesystem::path& path);

/// Writes dirty pages back and asks the kernel to drop all pages, which needs no privileges. The
/// kernel silently keeps pages that any process has mapped, so this returns the share that is still
/// resident. Throws Error(environment).
double evict(const std::filesystem::path& path);

}  // namespace bench
