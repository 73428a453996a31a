#include "training/cuda/device_context.h"

#include <atomic>
#include <utility>

#include "core/error.h"
#include "training/kernels/checked_id.h"

namespace bench::training {
namespace {

constexpr unsigned long long kNoFault = ~0ull;

}  // namespace

DeviceContext::DeviceContext(int priority)
    : stream_(priority), result_(sizeof(double)), fault_(sizeof(IdFault)) {
  *fault() = {kNoFault, 0};
}

StreamTimer& DeviceContext::timer() {
  if (!timer_) timer_ = std::make_unique<StreamTimer>(stream_.get());
  return *timer_;
}

int DeviceContext::capability() const {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "get the current GPU");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "query the compute capability");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "query the compute capability");
  return 10 * major + minor;
}

bool DeviceContext::recording() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_.get(), &status), "query stream capture");
  return status != cudaStreamCaptureStatusNone;
}

void* DeviceContext::grown(DeviceMemory& memory, std::int64_t bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  if (memory.bytes() >= wanted) return memory.as<>();
  if (recording())
    throw Error(ErrorKind::internal, "a captured step needs " + std::to_string(bytes) +
                                         " bytes of scratch, the previous step used " +
                                         std::to_string(memory.bytes()));
  outgrown_.push_back(std::exchange(memory, DeviceMemory(wanted)));
  return memory.as<>();
}

double DeviceContext::read_result() {
  double value = 0.0;
  check(cudaMemcpyAsync(&value, result(), sizeof value, cudaMemcpyDeviceToHost, stream_.get()),
        "read a result");
  synchronise();
  return value;
}

void DeviceContext::synchronise() {
  check(cudaStreamSynchronize(stream_.get()), "run training kernels");
  const std::atomic_ref word(fault()->row_and_id);
  const unsigned long long found = word.exchange(kNoFault);
  if (found != kNoFault)
    refuse_id(static_cast<std::int64_t>(found >> 32), static_cast<std::int32_t>(found),
              fault()->rows);
}

}  // namespace bench::training
