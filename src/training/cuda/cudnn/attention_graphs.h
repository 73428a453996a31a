// Attention and its gradient as the compositions of operations that cuDNN knows for a fused kernel
// (FlashAttention, arXiv 2307.08691). Which compositions those are: the operation graphs that
// NVIDIA's cudnn-frontend (1.24, scaled_dot_product_flash_attention.h) builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "training/cuda/cudnn/operation_graph.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench::cudnn {

/// Ids of tensors that a caller gives memory for.
enum AttentionTensor : std::int64_t {
  kQuery = 1,  // where heads begin in packed rows
  kKey,
  kValue,
  kOutput,
  kLogSum,  // [rows, heads] in f32: the logarithm of each softmax's denominator
  kOutputGradient,
  kQueryGradient,  // where heads begin in the packed gradient
  kKeyGradient,
  kValueGradient,
  kRowSums,    // f32, as many as kLogSum: of output x output_gradient
  kQuerySums,  // f32, as many as outputs: the query's gradient while it is added up
  kScale,
  kHidden,
  kOne,
};

struct AttentionProblem {
  training::AttentionShape shape;
  std::int64_t batch = 0;  // sequences
  Dtype dtype = Dtype::bf16;
  bool operator==(const AttentionProblem&) const = default;
};

/// Why no graph is made for it; empty where one is. bf16 or f16, sequences of multiples of 128
/// (others need a mask of their own before cuDNN 9.15.1), heads of multiples of 8 up to 128, no
/// shifted keys.
std::string refused(const AttentionProblem& problem);

/// The backward kernels for chips of compute capability 8.x (89: 8.9) take kLogSum for packed heads
/// first, whatever its strides, before 9.26 (cudnn-frontend's change 304). Ours are rows first.
bool ignores_strides_of_sums(std::size_t cudnn_version, int compute_capability);

OperationGraph attention_forward_graph(const AttentionProblem& problem);
/// The gradient of queries is added up in no fixed order (atomics on kQuerySums): results differ
/// from run to run by rounding.
OperationGraph attention_backward_graph(const AttentionProblem& problem);

// Chooses between a library's attention and our own: the library's if it supports the shape, agrees
// with our own and is faster. Both are tried at the first call of each shape, on its tensors; a
// library whose results differ is rejected.

/// Attention by a library. Both passes throw Error(environment) for unsupported calls.
class LibraryAttention : public training::AttentionKernels {
 public:
  virtual std::string name() const = 0;  // "cudnn 9.19.0"
};

/// What a choice needs of the device.
struct ChoiceDevice {
  std::shared_ptr<training::Memory> memory;
  /// True while calls are recorded: nothing can be tried then.
  std::function<bool()> recording;
  /// Of one of the calls that it makes.
  std::function<double(const std::function<void()>&)> seconds;
};

class AttentionChoices {
 public:
  /// Opens the library; throws Error(environment) where it is not there or does not start.
  using Open = std::function<std::unique_ptr<LibraryAttention>()>;

  /// `open` is called when a problem comes that graphs are made for (see refused()).
  AttentionChoices(Open open, ChoiceDevice device)
      : open_(std::move(open)), device_(std::move(device)) {}

  void forward(training::AttentionKernels& own, const training::AttentionShape& shape,
               training::View packed, training::View output, training::View log_sum);
  void backward(training::AttentionKernels& own, const training::AttentionShape& shape,
                const training::AttentionBackward& what);

  /// Begins a training. With `own_only` the library is not used: our own is bit-identical from run
  /// to run, the library may not be.
  void begin(bool own_only);

  /// The implementation of this training's calls: "cudnn 9.19.0", or
  /// "own (cannot load libcudnn.so.9: ...)", or
  /// "forward cudnn 9.19.0, backward own (cudnn 9.19.0 is slower)".
  std::string text() const;

 private:
  enum class Pass { forward, backward };
  struct Choice {
    AttentionProblem problem;
    Pass pass = Pass::forward;
    std::string reason = {};  // why not the library
    bool used = true;         // in this training
    bool uses_library() const { return reason.empty(); }
  };
  /// A tensor that a pass writes, and the number of heads in its rows.
  struct Output {
    training::View view;
    std::int64_t heads = 0;
  };
  using Call = std::function<void(training::AttentionKernels&)>;

  bool takes_library(training::AttentionKernels& own, const AttentionProblem& problem, Pass pass,
                     const Call& call, const std::vector<Output>& written);
  Choice try_library(training::AttentionKernels& own, const AttentionProblem& problem, Pass pass,
                     const Call& call, const std::vector<Output>& written);
  /// Why the library is rejected; empty if it is accepted.
  std::string compare(training::AttentionKernels& own, std::int64_t sequence, const Call& call,
                      const std::vector<Output>& written);
  struct Bytes {
    std::byte* data = nullptr;
    std::int64_t size = 0;
  };
  Bytes bytes_of_last(const Output& written, std::int64_t sequence) const;
  std::vector<double> last_sequence(const Output& written, std::int64_t sequence) const;
  void clear_last_sequence(const Output& written, std::int64_t sequence) const;
  std::string implementations(Pass pass) const;

  Open open_;
  ChoiceDevice device_;
  std::unique_ptr<LibraryAttention> library_ = {};
  bool own_only_ = false;
  std::vector<Choice> choices_ = {};
};

/// The kernels of one lane.
class ChosenAttention final : public training::AttentionKernels {
 public:
  ChosenAttention(std::shared_ptr<AttentionChoices> choices,
                  std::unique_ptr<training::AttentionKernels> own)
      : choices_(std::move(choices)), own_(std::move(own)) {}
  void forward(const training::AttentionShape& shape, training::View packed, training::View output,
               training::View log_sum) override {
    choices_->forward(*own_, shape, packed, output, log_sum);
  }
  void backward(const training::AttentionShape& shape,
                const training::AttentionBackward& what) override {
    choices_->backward(*own_, shape, what);
  }

 private:
  std::shared_ptr<AttentionChoices> choices_;
  std::unique_ptr<training::AttentionKernels> own_;
};

/// The largest difference of one head's results, over one sequence: root mean squares of difference
/// and of `right`, one over the other; infinite where something is not a number. Rows of
/// heads x n values each.
double worst_head(const std::vector<double>& found, const std::vector<double>& right,
                  std::int64_t heads, std::int64_t rows);

/// Both round shares to bf16 before they meet values, at other places: 2^-9 of each, about 0.004 in
/// all. A row of 1024 that is wrong by its own size makes 0.03.
inline constexpr double kAgreement = 0.02;

}  // namespace bench::cudnn
