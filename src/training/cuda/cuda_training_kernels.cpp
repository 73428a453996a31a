#include "training/cuda/cuda_training_kernels.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/nccl_collectives.h"
#include "devices/cuda/stream_graph.h"
#include "devices/group.h"
#include "training/cuda/cudnn/attention_graphs.h"
#include "training/cuda/cudnn/execution_plan.h"
#include "training/cuda/device_context.h"
#include "training/cuda/functor_set.h"
#include "training/cuda/lt_gemm.h"
#include "training/host/host_kernels.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench::training {
namespace {

using cudnn::AttentionProblem;

/// A plan for each pass; the backward one only if requested.
struct AttentionPlans {
  AttentionProblem problem;
  std::unique_ptr<cudnn::ExecutionPlan> forward = {}, backward = {};
};

/// Throws Error(input) for an unsupported type.
KernelSet functor_set(Dtype dtype, DeviceContext& context) {
  if (dtype == Dtype::f32) return functor_set_f32(context);
  if (dtype == Dtype::bf16) return functor_set_bf16(context);
  if (dtype == Dtype::f16) return functor_set_f16(context);
  throw Error(ErrorKind::input,
              "GPU training does not support " + std::string(to_string(dtype)) + " tensors",
              "use f32, bf16 or f16");
}

/// Attention by cuDNN on the current GPU, with one plan per shape for all lanes.
class CudnnAttention final : public cudnn::LibraryAttention {
 public:
  /// Throws Error(environment) where cuDNN does not start on this GPU.
  CudnnAttention(std::unique_ptr<cudnn::Library> library, std::shared_ptr<DeviceContext> context)
      : library_(std::move(library)), context_(std::move(context)) {
    library_->check(library_->create(&handle_), "start");
    library_->check(library_->set_stream(handle_, context_->stream()), "set stream");
  }
  ~CudnnAttention() override {
    plans_.clear();
    library_->destroy(handle_);
  }

  std::string name() const override { return "cudnn " + library_->version(); }

  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    AttentionPlans& plans = plans_of(shape, packed);
    if (!plans.forward)
      plans.forward = std::make_unique<cudnn::ExecutionPlan>(
          *library_, cudnn::attention_forward_graph(plans.problem), handle_);
    const auto [query, key, value] = heads_of(shape, packed);
    plans.forward->execute({{cudnn::kQuery, query},
                            {cudnn::kKey, key},
                            {cudnn::kValue, value},
                            {cudnn::kOutput, output.data},
                            {cudnn::kLogSum, log_sum.data}},
                           context_->scratch(plans.forward->workspace_bytes()));
  }

  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    if (cudnn::ignores_strides_of_sums(library_->version_number(), context_->capability()))
      throw Error(ErrorKind::environment,
                  name() + " uses another layout of softmax statistics on this GPU");
    AttentionPlans& plans = plans_of(shape, what.packed);
    if (!plans.backward)
      plans.backward = std::make_unique<cudnn::ExecutionPlan>(
          *library_, cudnn::attention_backward_graph(plans.problem), handle_);
    const auto [query, key, value] = heads_of(shape, what.packed);
    const auto [query_gradient, key_gradient, value_gradient] =
        heads_of(shape, what.packed_gradient);
    const std::int64_t sums = rounded_up(what.output.elements() * std::int64_t{sizeof(float)});
    auto* scratch =
        static_cast<std::byte*>(context_->scratch(sums + plans.backward->workspace_bytes()));
    plans.backward->execute({{cudnn::kQuery, query},
                             {cudnn::kKey, key},
                             {cudnn::kValue, value},
                             {cudnn::kOutput, what.output.data},
                             {cudnn::kLogSum, what.log_sum.data},
                             {cudnn::kOutputGradient, what.output_gradient.data},
                             {cudnn::kQueryGradient, query_gradient},
                             {cudnn::kKeyGradient, key_gradient},
                             {cudnn::kValueGradient, value_gradient},
                             {cudnn::kRowSums, what.workspace.data},
                             {cudnn::kQuerySums, scratch}},
                            scratch + sums);
  }

 private:
  struct Heads {
    void *query, *key, *value;
  };
  static Heads heads_of(const AttentionShape& shape, View packed) {
    const std::int64_t head = shape.head_dim * static_cast<std::int64_t>(size_of(packed.dtype));
    auto* row = packed.as<std::byte>();
    return {row, row + shape.heads * head, row + (shape.heads + shape.kv_heads) * head};
  }
  static std::int64_t rounded_up(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  AttentionPlans& plans_of(const AttentionShape& shape, View packed) {
    const AttentionProblem problem{shape, packed.rows / shape.sequence, packed.dtype};
    const auto found = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const auto& plans) { return plans.problem == problem; });
    return found != plans_.end() ? *found : plans_.emplace_back(AttentionPlans{problem});
  }

  std::unique_ptr<cudnn::Library> library_;
  std::shared_ptr<DeviceContext> context_;
  cudnn::Handle handle_ = nullptr;
  std::vector<AttentionPlans> plans_ = {};
};

/// By events alone, without StreamTimer's gate: a library that waits for the stream would
/// deadlock behind it.
double least_seconds(DeviceContext& context, const std::function<void()>& call) {
  constexpr int kTimings = 3;
  const CudaEvent begin, end;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimings; ++i) {
    check(cudaEventRecord(begin.get(), context.stream()), "record start event");
    call();
    check(cudaEventRecord(end.get(), context.stream()), "record end event");
    context.synchronise();
    least = std::min(least, between(begin, end).value);
  }
  return least;
}

/// Shared by all lanes. If libcudnn is missing or does not start, our own attention is used and
/// text() has the reason.
std::shared_ptr<cudnn::AttentionChoices> cudnn_attention(std::shared_ptr<DeviceContext> context,
                                                         std::shared_ptr<Memory> memory) {
  const auto open = [context] {
    auto library = std::make_unique<cudnn::Library>();
    if (!library->problem().empty()) throw Error(ErrorKind::environment, library->problem());
    return std::make_unique<CudnnAttention>(std::move(library), context);
  };
  cudnn::ChoiceDevice device{
      std::move(memory), [context] { return context->recording(); },
      [context](const std::function<void()>& call) { return least_seconds(*context, call); }};
  return std::make_shared<cudnn::AttentionChoices>(open, std::move(device));
}

std::size_t at_least_aligned(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max(bytes, kAlignment));
}

/// Throws; an out-of-memory error names the purpose of the memory.
void check_allocation(cudaError_t code, const char* where, std::int64_t bytes,
                      const char* purpose) {
  const std::string what =
      std::string(where) + " for " + std::to_string(bytes) + " bytes of " + purpose;
  if (code != cudaErrorMemoryAllocation) return check(code, "allocate memory " + what);
  cudaGetLastError();  // clear it for the next call
  throw Error(ErrorKind::environment, "out of memory " + what,
              "use a smaller preset or micro-batch, or recompute");
}

/// GPU memory for the engine, in the order of the context's stream.
class GpuMemory final : public Memory {
 public:
  explicit GpuMemory(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}

  bool on_host() const override { return false; }
  void* allocate(std::int64_t bytes, const char* purpose) override {
    void* data = nullptr;
    const std::size_t size = at_least_aligned(bytes);
    check_allocation(cudaMalloc(&data, size), "on the GPU", bytes, purpose);
    check(cudaMemsetAsync(data, 0, size, context_->stream()), "write zeros");
    return data;
  }
  void release(void* data) override { cudaFree(data); }
  void* allocate_staging(std::int64_t bytes, const char* purpose) override {
    void* data = nullptr;
    const std::size_t size = at_least_aligned(bytes);
    check_allocation(cudaHostAlloc(&data, size, cudaHostAllocPortable), "on the host (page-locked)",
                     bytes, purpose);
    std::memset(data, 0, size);
    return data;
  }
  void release_staging(void* data) override { cudaFreeHost(data); }
  void upload(const void* from, void* to, std::int64_t bytes) override {
    copy(from, to, bytes, cudaMemcpyHostToDevice, "copy to the GPU");
    check(cudaEventRecord(uploaded_.get(), context_->stream()), "record copy event");
  }
  void uploaded() override {
    check(cudaEventSynchronize(uploaded_.get()), "wait for a copy to the GPU");
  }
  void download(const void* from, void* to, std::int64_t bytes) override {
    copy(from, to, bytes, cudaMemcpyDeviceToHost, "copy from the GPU");
    context_->synchronise();
  }
  void synchronise() override { context_->synchronise(); }

 private:
  void copy(const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind,
            const char* purpose) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, context_->stream()),
          purpose);
  }

  std::shared_ptr<DeviceContext> context_;
  CudaEvent uploaded_;
};

/// Gradient exchange over NCCL on a high-priority stream.
class NcclExchange final : public ExchangeStream {
 public:
  NcclExchange(Group& group, Dtype dtype, std::shared_ptr<DeviceContext> computing)
      : computing_(std::move(computing)),
        communicating_(highest_priority()),
        kernels_(functor_set(dtype, communicating_)),
        collectives_(make_nccl_collectives(group, communicating_.stream())) {
    collectives_->connect({});
  }

  Collectives& collectives() override { return *collectives_; }
  ElementwiseKernels& elementwise() override { return *kernels_.elementwise; }

  void enqueue(const std::function<void()>& work) override {
    check(cudaEventRecord(asked_.get(), computing_->stream()), "start exchange");
    check(cudaStreamWaitEvent(communicating_.stream(), asked_.get()), "start exchange");
    if (used_ == stretches_.size()) stretches_.emplace_back();
    const Stretch& stretch = stretches_[used_++];
    check(cudaEventRecord(stretch.begin.get(), communicating_.stream()), "record exchange event");
    work();
    check(cudaEventRecord(stretch.end.get(), communicating_.stream()), "record exchange event");
  }

  Seconds finish() override {
    communicating_.synchronise();
    Seconds took;
    for (; used_ > 0; --used_)
      took += between(stretches_[used_ - 1].begin, stretches_[used_ - 1].end);
    // NCCL's messages would fill memory if they were not read.
    collectives_->chosen();
    return took;
  }

 private:
  struct Stretch {
    CudaEvent begin, end;
  };

  std::shared_ptr<DeviceContext> computing_;
  DeviceContext communicating_;
  KernelSet kernels_;
  std::unique_ptr<Collectives> collectives_;
  CudaEvent asked_;
  std::deque<Stretch> stretches_ = {};  // by piece; reused in the next step
  std::size_t used_ = 0;
};

/// Exchanges concurrently with `computing`. Create it on all ranks together; throws
/// Error(environment) if NCCL cannot connect them. Null in a build without NCCL.
std::unique_ptr<ExchangeStream> make_nccl_exchange(Group& group, Dtype dtype,
                                                   std::shared_ptr<DeviceContext> computing) {
  if (nccl_version().empty()) return nullptr;
  return std::make_unique<NcclExchange>(group, dtype, std::move(computing));
}

/// Parts of a step as CUDA graphs: run call by call the first time (kernels are loaded, scratch
/// memory grows, algorithms are tried), recorded the second time, then launched as a whole.
class GraphRecorder final : public Recorder {
 public:
  explicit GraphRecorder(cudaStream_t stream) : stream_(stream) {}
  void run(const RecordingKey& key, const std::function<void()>& work) override {
    Piece* piece = find(key);
    if (!piece) {
      work();
      remember(key);
      return;
    }
    if (!piece->graph) piece->graph = std::make_unique<StreamGraph>(stream_, work);
    piece->graph->launch();
  }

 private:
  struct Piece {
    RecordingKey key;
    std::unique_ptr<StreamGraph> graph;
  };

  Piece* find(const RecordingKey& key) {
    for (Piece& piece : pieces_)
      if (piece.key == key) return &piece;
    return nullptr;
  }
  /// Scales that change in every step would fill memory with graphs; the limit allows a backward
  /// pass with one piece per bucket.
  void remember(const RecordingKey& key) {
    constexpr std::size_t kMost = 1024;
    if (pieces_.size() == kMost) pieces_.erase(pieces_.begin());
    pieces_.push_back({key, nullptr});
  }

  cudaStream_t stream_;
  std::vector<Piece> pieces_ = {};
};

}  // namespace
}  // namespace bench::training

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
  std::shared_ptr<training::LtGemmPlans> gemms_ = std::make_shared<training::LtGemmPlans>(context_);
  std::shared_ptr<cudnn::AttentionChoices> attention_ =
      training::cudnn_attention(context_, memory_);
};

}  // namespace

std::unique_ptr<TrainingKernels> make_cuda_training_kernels() {
  return std::make_unique<CudaTrainingKernels>();
}

}  // namespace bench
