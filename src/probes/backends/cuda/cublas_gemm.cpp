#include "probes/backends/cuda/cublas_gemm.h"

#include "probes/backends/cuda/cublas_plan.h"

namespace bench {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;  // Hopper's kernels want 32 MiB

using LtHandle = CublasHandle<cublasLtHandle_t, cublasLtDestroy>;

class CublasGemm final : public Gemm {
 public:
  CublasGemm(int device, cudaStream_t stream, StreamTimer& timer)
      : stream_(stream), timer_(timer), workspace_(kWorkspaceBytes) {
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "capability");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "capability");
    compute_capability_ = 10 * major + minor;
    check(cublasLtCreate(handle_.out()), "cublasLtCreate");
  }

  GemmOffer prepare(const GemmRequest& request) override {
    const std::string obstacle = cublas_obstacle(request, compute_capability_);
    if (!obstacle.empty()) return {nullptr, obstacle};
    const CublasContext context{handle_.get(), workspace_.as<>(), kWorkspaceBytes, stream_,
                                &timer_};
    auto plan = std::make_unique<CublasPlan>(request, *cublas_types(request.dtype), context);
    if (!plan->found()) return {nullptr, "cuBLASLt proposes no algorithm for this product"};
    return {std::move(plan), ""};
  }

 private:
  const cudaStream_t stream_;
  StreamTimer& timer_;
  DeviceMemory workspace_;
  LtHandle handle_;
  int compute_capability_ = 0;
};

}  // namespace

std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer) {
  return std::make_unique<CublasGemm>(device, stream, timer);
}

}  // namespace bench
