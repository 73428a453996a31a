// Communication on a stream of its own alongside computation on the device's.
#pragma once

#include <cuda_runtime_api.h>

#include "probes/backends/cuda/cuda_stream.h"
#include "probes/backends/cuda/stream_timer.h"
#include "probes/device/collectives.h"

namespace bench {

class StreamOverlap final : public Overlap {
 public:
  /// `direct_to` makes Collectives::run() enqueue on another stream; afterwards it is called with
  /// `computing` again.
  StreamOverlap(cudaStream_t computing, std::function<void(cudaStream_t)> direct_to);

  void run_computation(const std::function<void()>& work) override { work(); }
  void together(const std::function<void()>& communicate,
                const std::function<void()>& compute) override;
  Parts last_parts() override;

 private:
  struct Stretch {
    CudaEvent begin, end;
    bool used = false;
    Seconds took() const;
  };

  cudaStream_t computing_;
  std::function<void(cudaStream_t)> direct_to_;
  CudaStream communicating_;
  CudaEvent fork_, join_;
  Stretch communication_, computation_;
};

}  // namespace bench
