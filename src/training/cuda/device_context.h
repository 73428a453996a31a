// Shared by all training kernels of one GPU: their stream, scratch memory, and error reports. Lanes
// of training and evaluation use the same context in turn.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "devices/cuda/cuda_error.h"
#include "devices/cuda/stream_timer.h"
#include "training/kernels/functors/row_elements.h"

namespace bench::training {

class DeviceContext {
 public:
  /// On the current GPU; for priorities see CudaStream.
  explicit DeviceContext(int priority = 0);

  cudaStream_t stream() const { return stream_.get(); }
  StreamTimer& timer();

  /// Device memory, valid until the next call. Growing during recording is an internal error.
  /// Earlier memory is kept for the recordings that use it.
  void* scratch(std::int64_t bytes) { return grown(scratch_, bytes); }
  /// The same for sorting, separate from scratch().
  void* sort_scratch(std::int64_t bytes) { return grown(sort_scratch_, bytes); }

  /// One f64 on the device, for a result that the host reads.
  double* result() const { return result_.as<double>(); }
  double read_result();

  int capability() const;  // compute capability: 90 means 9.0

  /// Where kernels report an ID outside its table; host memory.
  IdFault* fault() const { return fault_.as<IdFault>(); }
  /// Waits for all enqueued work; throws Error(input) for a reported ID.
  void synchronise();
  bool recording() const;

 private:
  void* grown(DeviceMemory& memory, std::int64_t bytes);

  CudaStream stream_;
  std::unique_ptr<StreamTimer> timer_;
  DeviceMemory scratch_, sort_scratch_, result_;
  std::vector<DeviceMemory> outgrown_ = {};
  PinnedMemory fault_;
};

/// IDs in ascending order and the position that each had, so that the rows of a table's gradient
/// are summed in one order without atomics. Both are on the device until the next call; equal IDs
/// keep their order. They are counted from `first`, and those outside a table of `table_rows`
/// become table_rows.
std::pair<const std::int32_t*, const std::int32_t*> sort_ids(DeviceContext& context,
                                                             const std::int32_t* ids,
                                                             std::int64_t count, std::int64_t first,
                                                             std::int64_t table_rows);

}  // namespace bench::training
