#include "probes/training/backends/cuda/cuda_training_kernels.h"

#include <string>
#include <utility>

#include "probes/backends/cuda/cuda_libraries.h"
#include "probes/training/backends/cuda/cudnn_attention.h"
#include "probes/training/backends/cuda/functor_set.h"
#include "probes/training/backends/cuda/gpu_memory.h"
#include "probes/training/backends/cuda/graph_recorder.h"
#include "probes/training/backends/cuda/lt_gemm.h"
#include "probes/training/backends/cuda/nccl_exchange.h"
#include "probes/training/backends/host/host_kernels.h"
#include "probes/training/kernels/missing_kernels.h"

namespace bench {
namespace {

using training::DeviceContext;
using training::KernelSet;

/// All lanes share one stream, so that an evaluation sees the weights of the step before it.
class CudaTrainingKernels final : public TrainingKernels {
 public:
  std::string name() const override {
    return "cublaslt " + cublas_version() + "; attention: " + attention_->text();
  }
  KernelSet make(Dtype dtype) override {
    KernelSet set = training::functor_set(dtype, *context_);
    set.memory = memory_;
    if (dtype != Dtype::f32)
      set.recommender = training::missing_recommender(dtype == Dtype::f16 ? "in f16" : "in bf16");
    set.gemm = std::make_unique<training::LtGemm>(gemms_);
    set.recorder = std::make_unique<training::GraphRecorder>(context_->stream());
    set.attention = std::make_unique<cudnn::ChosenAttention>(attention_, std::move(set.attention));
    return set;
  }
  KernelSet make_on_host(Dtype dtype) override { return training::host_kernels(dtype); }
  void begin(bool deterministic) override {
    gemms_->begin(deterministic);
    attention_->begin(deterministic);
  }
  std::unique_ptr<training::ExchangeStream> exchange_stream(Group& group, Dtype dtype) override {
    return training::make_nccl_exchange(group, dtype, context_);
  }

 private:
  std::shared_ptr<DeviceContext> context_ = std::make_shared<DeviceContext>();
  std::shared_ptr<training::GpuMemory> memory_ = std::make_shared<training::GpuMemory>(context_);
  std::shared_ptr<training::LtGemmPlans> gemms_ =
      std::make_shared<training::LtGemmPlans>(context_);
  std::shared_ptr<cudnn::AttentionChoices> attention_ =
      training::cudnn_attention(context_, memory_);
};

}  // namespace

std::unique_ptr<TrainingKernels> make_cuda_training_kernels() {
  return std::make_unique<CudaTrainingKernels>();
}

}  // namespace bench
