// The cores a rank may use: one hardware thread of each physical core in this process's affinity
// mask, in ascending order, so that n threads on the first n of them never share a core.
#pragma once

#include <string>
#include <vector>

namespace bench {

class HostCpus {
 public:
  /// Reads the affinity mask of the calling thread and which hardware threads are siblings.
  static HostCpus allowed();
  explicit HostCpus(std::vector<int> cores) : cores_(std::move(cores)) {}

  int count() const { return static_cast<int>(cores_.size()); }
  /// The first `threads` cores; throws Error(input) when there are fewer.
  std::vector<int> first(int threads) const;
  const std::vector<int>& all() const { return cores_; }

 private:
  std::vector<int> cores_;
};

/// "0-3,8" as numbers; the form the kernel uses for lists of CPUs. Bad text gives what was
/// readable.
std::vector<int> parse_cpu_list(const std::string& text);

/// Pins the calling thread; throws Error(environment) when the kernel refuses.
void pin_to(int cpu);
/// Lets the calling thread run on any of these.
void pin_to(const std::vector<int>& cpus);

}  // namespace bench
