// Host memory arrays for streaming by pinned threads, each in its own region that it touched first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "devices/host/core_share.h"
#include "devices/host/memory_errors.h"
#include "devices/host/pages.h"
#include "devices/host/stream_kernels.h"
#include "devices/host/team.h"
#include "devices/memory.h"

namespace bench {

/// Larger working sets are processed in windows of this many bytes per thread over all arrays:
/// about 0.3 ms of work, and larger than any L2.
inline constexpr std::size_t kWindowBytes = std::size_t{4} << 20;

class HostArrays final : public MemoryArrays {
 public:
  /// As many cores as `request.threads`. `near`: pages must be local to the thread that uses them,
  /// and there are several nodes.
  HostArrays(const ArraysRequest& request, std::vector<int> cores, bool near,
             HostThreadWatch& watch, const StreamKernels& kernels = stream_kernels());

  double huge_share() const override;
  StreamAmount prepare(const StreamRequest& request) override;
  void run(std::int64_t calls) override;
  Check verify() override;
  std::optional<double> core_share() override;

  /// Data that the prepared kernel reads and writes in a thread's region; tests corrupt it.
  std::span<double> sources(int thread) const;
  std::span<double> destination(int thread) const;

 private:
  /// Array offsets in each region, in elements. Sources come first and the destination last, so
  /// that the pattern before it survives for the next kernel.
  struct Layout {
    std::size_t window = 0;   // of one array
    std::size_t windows = 0;  // in one array
    std::size_t b = 0, c = 0, a = 0;
    std::size_t length() const { return window * windows; }
  };
  struct alignas(64) Result {
    std::uint64_t sum = 0;  // of all values read by the last run(), modulo 2^64
    double error = 0.0;
  };

  void divide(int threads);
  void fill_to(std::size_t end);
  void stream(int thread, std::int64_t calls);
  double error_of(int thread) const;
  double sum_error(int thread) const;
  double write_error(int thread) const;
  std::uint64_t first_index(int thread) const {
    return region_ * static_cast<std::uint64_t>(thread);
  }
  double* region(int thread) const;
  /// Unique among a million calls; stored by write and multiplied by triad.
  double mark(std::int64_t call) const;

  const ArraysRequest bounds_;
  const std::vector<int> cores_;
  const bool near_;
  HostThreadWatch& watch_;
  const StreamKernels& kernels_;
  std::unique_ptr<PageMapping> mapping_;
  std::unique_ptr<Team> team_;
  std::optional<CoreShare> shares_ = {};  // of the team; made on first use
  std::size_t region_ = 0;                // elements of one thread
  std::vector<Result> results_;
  StreamRequest request_;
  Layout layout_;
  std::size_t filled_ = 0;       // elements of each region that hold the pattern
  std::size_t shift_ = 0;        // of the copy's source, changed by each prepare()
  std::int64_t earlier_ = 0;     // calls before prepare()
  std::int64_t done_ = 0;        // calls since prepare()
  std::int64_t last_calls_ = 0;  // of the last run()
};

}  // namespace bench
