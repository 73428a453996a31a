// The cores a rank may use: one hardware thread per physical core in the affinity mask of this
// process, ascending, so that threads on different entries never share a core.
#pragma once

#include <string>
#include <vector>

namespace bench {

class HostCpus {
 public:
  /// From the affinity mask of the calling thread.
  static HostCpus allowed();
  explicit HostCpus(std::vector<int> cores) : cores_(std::move(cores)) {}

  int count() const { return static_cast<int>(cores_.size()); }
  /// The first `threads` cores; throws Error(input) if there are fewer.
  std::vector<int> first(int threads) const;
  const std::vector<int>& all() const { return cores_; }

 private:
  std::vector<int> cores_;
};

/// Pins the calling thread; throws Error(environment) on failure.
void pin_to(int cpu);
/// Restricts the calling thread to these CPUs.
void pin_to(const std::vector<int>& cpus);

}  // namespace bench
