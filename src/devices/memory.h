// Memory as seen by the memory probes: caches, NUMA nodes, arrays for streaming kernels, and
// pointer chains. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/record.h"

namespace bench {

// Array contents: integers that differ for every element (up to 2^32), so that misplaced copies are
// detected, exact in f64 arithmetic, and pseudo-random, because ramps and zeros would be easier for
// the hardware. Shared by host and GPU code, so that each can verify the other.

/// |value| <= 2^31. Multiplication by an odd number is a bijection on 32 bits.
constexpr double pattern(std::uint64_t index) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(index) * 2654435761u);
}

/// f64 kernels over N bytes per array: read sums b, write sets a, copy a = b, triad a = b + s c.
enum class MemoryKernel { read, write, copy, triad };
/// Plain stores read the line they write first (write-allocate); non-temporal ones do not. `none`
/// is for read.
enum class Stores { none, plain, nontemporal };
/// Pages of the base size, or transparent huge pages.
enum class Pages { small, huge };

inline constexpr NameTable<MemoryKernel, 4> kMemoryKernels{{{{MemoryKernel::read, "read"},
                                                             {MemoryKernel::write, "write"},
                                                             {MemoryKernel::copy, "copy"},
                                                             {MemoryKernel::triad, "triad"}}}};
inline constexpr NameTable<Stores, 3> kStores{
    {{{Stores::none, "none"}, {Stores::plain, "plain"}, {Stores::nontemporal, "nontemporal"}}}};
inline constexpr NameTable<Pages, 2> kPages{{{{Pages::small, "small"}, {Pages::huge, "huge"}}}};

/// Number of arrays a kernel uses.
constexpr int array_count(MemoryKernel kernel) {
  return kernel == MemoryKernel::triad ? 3 : kernel == MemoryKernel::copy ? 2 : 1;
}

/// A data or unified cache.
struct CacheLevel {
  int level = 1;
  double bytes = 0.0;  // of one instance
  int shared_by = 1;   // number of cores of this rank per instance
};

struct MemoryNode {
  int id = 0;
  std::vector<int> cores;  // cores of this rank on it; may be empty
  bool has_memory = false;
};

/// Placement of threads and memory. Default: the first cores, and memory local to the thread that
/// uses it.
struct MemoryPlace {
  std::optional<int> cpu_node = {};
  std::optional<int> memory_node = {};
};

struct ArraysRequest {
  double bytes = 0.0;  // of the largest working set, all arrays and threads together
  int threads = 1;     // maximum of later requests
  Pages pages = Pages::small;
  MemoryPlace place = {};
};

struct StreamRequest {
  MemoryKernel kernel = MemoryKernel::read;
  Stores stores = Stores::none;
  double bytes = 0.0;  // working set, all arrays and threads together
  int threads = 1;
};

/// Bytes moved per call of a prepared stream, over all threads.
struct StreamAmount {
  double payload = 0.0;  // bytes: read N, write N, copy 2N, triad 3N
  double traffic = 0.0;  // with write-allocate: a plain store counts twice
};

/// One allocation for streams of several kernels and sizes. Working sets larger than a few MiB per
/// thread are processed in windows, one per call, in a cycle: calls are then short enough for clean
/// samples under load, and caches stay cold because a line is reused only after all others.
class MemoryArrays {
 public:
  virtual ~MemoryArrays() = default;
  /// Share of huge pages, as accounted by the kernel.
  virtual double huge_share() const = 0;
  /// Lays out and fills the arrays. Throws Error(input) if a thread gets less than a cache line of
  /// each array.
  virtual StreamAmount prepare(const StreamRequest& request) = 0;
  /// The timed work: `calls` passes, each over the next window (or all of a small set).
  virtual void run(std::int64_t calls) = 0;
  /// Verifies everything written since prepare(), or the sum of the last run() for read. Exact:
  /// values are integers that differ between elements and calls.
  virtual Check verify() = 0;
  /// How the prepared stream moves its data, where the fastest of several ways was chosen; else "".
  virtual std::string way() const { return ""; }
  /// The smallest share of a core that any thread just got; see Measurement.
  virtual std::optional<double> core_share() { return {}; }
};

/// A pointer chain through one random cycle, one node per cache line: each load depends on the
/// previous one.
class MemoryChain {
 public:
  virtual ~MemoryChain() = default;
  virtual double huge_share() const = 0;  // of what was prepared so far
  /// Builds a chain through `bytes`: a power of two, at least 256, at most as requested.
  virtual void prepare(double bytes) = 0;
  /// The timed work: advances by `loads` steps.
  virtual void run(std::int64_t loads) = 0;
  /// Compares the current node with the expected one.
  virtual Check verify() = 0;
};

struct ChainRequest {
  double bytes = 0.0;  // of the largest chain
  Pages pages = Pages::small;
  MemoryPlace place = {};
  std::uint64_t seed = 1;
};

class MemorySystem {
 public:
  virtual ~MemorySystem() = default;
  /// By level; empty if unknown.
  virtual std::vector<CacheLevel> caches() const = 0;
  virtual std::vector<MemoryNode> nodes() const = 0;
  /// Smallest working set worth measuring: below it, loop or launch overhead dominates.
  virtual double least_bytes(int threads) const { return 4096.0 * threads; }
  /// Limited by free memory and by the control group.
  virtual double available_bytes() const = 0;
  /// Why huge pages are unavailable; "" if they may be available.
  virtual std::string no_huge_pages() const = 0;
  /// Why non-temporal stores cannot be measured; "" if they can.
  virtual std::string no_nontemporal() const = 0;
  /// Vector instructions of the kernels: "AVX-512".
  virtual std::string instructions() const = 0;
  /// Throw Error(environment) if memory cannot be allocated or placed.
  virtual std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) = 0;
  virtual std::unique_ptr<MemoryChain> chain(const ChainRequest& request) = 0;
};

}  // namespace bench
