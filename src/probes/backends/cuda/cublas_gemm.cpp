#include "probes/backends/cuda/cublas_gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "core/order_statistics.h"
#include "probes/backends/cuda/cublas_descriptors.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/backends/cuda/matrix_transpose.h"

namespace bench {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;  // Hopper's kernels want 32 MiB

struct Scale {
  alignas(8) std::array<std::byte, 8> bytes{};
};

/// A scalar in the type that alpha and beta have.
Scale scale_of(cudaDataType_t type, int value) {
  Scale scale;
  const auto put = [&](auto typed) { std::memcpy(scale.bytes.data(), &typed, sizeof typed); };
  if (type == CUDA_R_64F)
    put(static_cast<double>(value));
  else if (type == CUDA_R_32I)
    put(static_cast<std::int32_t>(value));
  else
    put(static_cast<float>(value));
  return scale;
}

using LtHandle = CublasHandle<cublasLtHandle_t, cublasLtDestroy>;
using Preference = CublasHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

class CublasPlan final : public GemmPlan {
 public:
  CublasPlan(const GemmRequest& request, const CublasTypes& types, cublasLtHandle_t handle,
             void* workspace, cudaStream_t stream, StreamTimer& timer)
      : shape_(request.shape),
        types_(types),
        transposed_b_(types.transposed_b || request.packed),
        descriptors_(cublas_product(request.shape, types, transposed_b_), types,
                     request.fast_accumulation),
        handle_(handle),
        workspace_(workspace),
        stream_(stream),
        timer_(timer),
        alpha_(scale_of(types.scale, 1)),
        beta_(scale_of(types.scale, 0)),
        element_bytes_(size_of(request.dtype)),
        a_(count(shape_.m, shape_.k) * element_bytes_),
        b_(count(shape_.k, shape_.n) * element_bytes_),
        c_(count(shape_.m, shape_.n) * size_of(types.output)) {
    find_algorithms(std::max(1, request.candidates));
  }

  bool found() const { return !algorithms_.empty(); }

  std::string library() const override { return "cublaslt"; }
  std::string implementation() const override {
    return "algorithm " + std::to_string(id_of(algorithms_.at(chosen_).algo)) + ", choice " +
           std::to_string(chosen_ + 1) + " of " + std::to_string(algorithms_.size());
  }
  std::string isa() const override { return ""; }
  bool packed() const override { return transposed_b_; }
  Dtype output() const override { return types_.output; }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (a.size() != a_.bytes() || b.size() != b_.bytes())
      throw Error(ErrorKind::internal, "matrices of another size than the product's");
    upload(a_, a);
    if (transposed_b_)
      upload(b_, transposed(b, shape_.k, shape_.n, element_bytes_));
    else
      upload(b_, b);
  }

  void clear() override {
    check(cudaMemsetAsync(c_.as<>(), 0xff, c_.bytes(), stream_), "poison the result");
    check(cudaStreamSynchronize(stream_), "poison the result");
  }

  /// The library's own order of its proposals is right nine times in ten.
  void tune() override {
    constexpr int kWarmUps = 3, kTimings = 5;
    double best = std::numeric_limits<double>::infinity();
    std::size_t fastest = 0;
    for (chosen_ = 0; chosen_ < algorithms_.size(); ++chosen_) {
      run(kWarmUps);
      check(cudaStreamSynchronize(stream_), "try an algorithm");
      std::vector<double> seconds;
      for (int i = 0; i < kTimings; ++i) seconds.push_back(timer_.time([&] { run(1); }, 1).value);
      if (const double middle = median(seconds); middle < best) {
        best = middle;
        fastest = chosen_;
      }
    }
    chosen_ = fastest;
  }

  void run(std::int64_t calls) override {
    const cublasLtMatmulAlgo_t& algorithm = algorithms_.at(chosen_).algo;
    for (; calls > 0; --calls)
      check(cublasLtMatmul(handle_, descriptors_.operation(), alpha_.bytes.data(), b_.as<>(),
                           descriptors_.first(), a_.as<>(), descriptors_.second(),
                           beta_.bytes.data(), c_.as<>(), descriptors_.result(), c_.as<>(),
                           descriptors_.result(), &algorithm, workspace_, kWorkspaceBytes, stream_),
            "cublasLtMatmul");
  }

  std::vector<std::byte> result() const override {
    std::vector<std::byte> bytes(c_.bytes());
    check(cudaStreamSynchronize(stream_), "the product");
    check(cudaMemcpy(bytes.data(), c_.as<>(), bytes.size(), cudaMemcpyDeviceToHost),
          "read the result");
    inject_fault(bytes.data() + size_of(types_.output) - 1);  // sign and exponent, not rounding
    return bytes;
  }

  std::optional<Hertz> clock() override { return timer_.clock(); }

 private:
  static std::size_t count(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  static void upload(const DeviceMemory& to, std::span<const std::byte> from) {
    check(cudaMemcpy(to.as<>(), from.data(), from.size(), cudaMemcpyHostToDevice),
          "copy a matrix to the GPU");
  }

  static int id_of(cublasLtMatmulAlgo_t algorithm) {
    int id = 0;
    std::size_t written = 0;
    check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                               &written),
          "ask for an algorithm's number");
    return id;
  }

  void find_algorithms(int wanted) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.out()), "say what is preferred");
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                               CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspaceBytes, sizeof kWorkspaceBytes),
          "say how large the workspace is");
    algorithms_.resize(static_cast<std::size_t>(wanted));
    int got = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_, descriptors_.operation(), descriptors_.first(), descriptors_.second(),
        descriptors_.result(), descriptors_.result(), preference.get(), wanted, algorithms_.data(),
        &got);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) check(status, "ask for algorithms");
    algorithms_.resize(static_cast<std::size_t>(got));
    std::erase_if(algorithms_, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
  }

  const GemmShape shape_;
  const CublasTypes types_;
  const bool transposed_b_;
  const CublasDescriptors descriptors_;
  const cublasLtHandle_t handle_;
  void* const workspace_;
  const cudaStream_t stream_;
  StreamTimer& timer_;
  const Scale alpha_, beta_;
  const std::size_t element_bytes_;
  DeviceMemory a_, b_, c_;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_;
  std::size_t chosen_ = 0;
};

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
    auto plan = std::make_unique<CublasPlan>(request, *cublas_types(request.dtype), handle_.get(),
                                             workspace_.as<>(), stream_, timer_);
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
