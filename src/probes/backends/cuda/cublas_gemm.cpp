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
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "query the GPU's properties");
    compute_capability_ = 10 * properties.major + properties.minor;
    chip_ = std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
            " multiprocessors";  // a slice of a GPU has its name but not its algorithms
    check(cublasLtCreate(handle_.out()), "cublasLtCreate");
  }

  std::string chip() const override { return chip_; }

  GemmOffer prepare(const GemmRequest& request) override {
    const std::string obstacle = cublas_obstacle(request, compute_capability_);
    if (!obstacle.empty()) return {nullptr, obstacle};
    const CublasContext context{handle_.get(), workspace_.as<>(), kWorkspaceBytes, stream_,
                                &timer_};
    auto plan = std::make_unique<CublasPlan>(request, *cublas_types(request.dtype), context);
    if (!plan->found()) return {nullptr, "cuBLASLt has no algorithm for this GEMM"};
    return {std::move(plan), ""};
  }

 private:
  const cudaStream_t stream_;
  StreamTimer& timer_;
  DeviceMemory workspace_;
  LtHandle handle_;
  int compute_capability_ = 0;
  std::string chip_;
};

}  // namespace

std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer) {
  return std::make_unique<CublasGemm>(device, stream, timer);
}

}  // namespace bench
