// Memory as a device shows it to the memory probes: its caches, its nodes, arrays that kernels
// stream through, and a chain of pointers to chase. All sizes are bytes; rates are made by State.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/record.h"

namespace bench {

// The numbers that arrays in any memory are filled with: integers that are different for every
// element (up to 2^32 of them), so that a copy to the wrong place is seen, small enough that all
// arithmetic on them in f64 is exact, and spread like random ones (a ramp or zeros would be kinder
// to the hardware). Host and GPU code share them, so that either can check the other.

/// |value| <= 2^31. Multiplication by an odd number maps 2^32 indices to as many values.
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

/// Arrays a kernel goes through.
constexpr int array_count(MemoryKernel kernel) {
  return kernel == MemoryKernel::triad ? 3 : kernel == MemoryKernel::copy ? 2 : 1;
}

/// A data or unified cache.
struct CacheLevel {
  int level = 1;
  double bytes = 0.0;  // of one instance
  int shared_by = 1;   // cores of this rank that share one instance
};

struct MemoryNode {
  int id = 0;
  std::vector<int> cores;  // cores of this rank on it; may be empty
  bool has_memory = false;
};

/// Where the threads run and where the memory lies; nothing said: the first cores, and memory near
/// the thread that uses it.
struct MemoryPlace {
  std::optional<int> cpu_node = {};
  std::optional<int> memory_node = {};
};

struct ArraysRequest {
  double bytes = 0.0;  // of the largest working set, all arrays and threads together
  int threads = 1;     // the most that will be asked for
  Pages pages = Pages::small;
  MemoryPlace place = {};
};

struct StreamRequest {
  MemoryKernel kernel = MemoryKernel::read;
  Stores stores = Stores::none;
  double bytes = 0.0;  // working set, all arrays and threads together
  int threads = 1;
};

/// What one call of a prepared stream moves, all threads together.
struct StreamAmount {
  double payload = 0.0;  // bytes the program asked for: read N, write N, copy 2N, triad 3N
  double traffic = 0.0;  // with write-allocate: a plain store counts twice
};

/// One allocation, used for streams of many kernels and sizes one after another. A working set
/// larger than a few MiB a thread is gone through in windows: each call does the next one and after
/// the last the first, so that a call is short (a clean sample exists under load) and a line is met
/// again only after all others have been (caches stay cold).
class MemoryArrays {
 public:
  virtual ~MemoryArrays() = default;
  /// Share of the pages that are huge, as the kernel accounts for them.
  virtual double huge_share() const = 0;
  /// Lays out and fills what the kernel reads. Throws Error(input) when a thread would get less
  /// than a cache line of each array.
  virtual StreamAmount prepare(const StreamRequest& request) = 0;
  /// The timed work: `calls` passes, each over the next window (or the whole of a small set).
  virtual void run(std::int64_t calls) = 0;
  /// Looks at everything the calls since prepare() wrote, or at the sum of the last run() for read.
  /// The values are integers that differ from element to element and call to call: exact.
  virtual Check verify() = 0;
  /// The smallest share of a core that any of the threads got just now; see Measurement.
  virtual std::optional<double> core_share() { return {}; }
};

/// Pointers in one random cycle, one a cache line: each load needs the one before it.
class MemoryChain {
 public:
  virtual ~MemoryChain() = default;
  virtual double huge_share() const = 0;  // of what was prepared so far
  /// Builds the chain through so many bytes: a power of two, at least 256, at most as requested.
  virtual void prepare(double bytes) = 0;
  /// The timed work: follows the chain `loads` steps further.
  virtual void run(std::int64_t loads) = 0;
  /// Whether the walk stands where that many steps must have brought it; counts nodes it is off.
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
  /// From the first level up; empty where the machine does not say.
  virtual std::vector<CacheLevel> caches() const = 0;
  virtual std::vector<MemoryNode> nodes() const = 0;
  /// Streams over a smaller working set are not measured: all loop or launch, and no memory.
  virtual double least_bytes(int threads) const { return 4096.0 * threads; }
  /// What may be allocated now: by the machine and by its control group.
  virtual double available_bytes() const = 0;
  /// Why huge pages cannot be had here; "" when they may be.
  virtual std::string no_huge_pages() const = 0;
  /// Why non-temporal stores cannot be measured here; "" when they can.
  virtual std::string no_nontemporal() const = 0;
  /// The vector instructions the kernels use: "AVX-512".
  virtual std::string instructions() const = 0;
  /// Throw Error(environment) when the memory cannot be had or placed.
  virtual std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) = 0;
  virtual std::unique_ptr<MemoryChain> chain(const ChainRequest& request) = 0;
};

}  // namespace bench
