// What of a file lies in this machine's page cache, and how to get it out. Caches beneath (a
// hypervisor's, a server's, a device's) are neither seen nor emptied.
#pragma once

#include <filesystem>

namespace bench::storage {

/// Share 0..1 of the file's pages that are in memory, by mincore(2). Throws Error(environment).
double resident_share(const std::filesystem::path& path);

/// Brings the file to its device and asks the kernel to forget its pages, which needs no rights.
/// The kernel keeps, without a word, what any process has mapped; so this looks, and returns the
/// share that is still there. Throws Error(environment).
double evict(const std::filesystem::path& path);

/// A share above this is a warm cache, not a cold one.
inline constexpr double kColdShare = 0.01;

}  // namespace bench::storage
