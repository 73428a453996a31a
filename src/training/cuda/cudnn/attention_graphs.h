// Attention and its gradient as the operation graphs for which cuDNN has fused kernels
// (FlashAttention, arXiv 2307.08691): those that NVIDIA's cudnn-frontend (1.24,
// scaled_dot_product_flash_attention.h) builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "training/cuda/cudnn/operation_graph.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench::cudnn {

/// IDs of tensors with memory of the caller.
enum AttentionTensor : std::int64_t {
  kQuery = 1,  // the first head in packed rows
  kKey,
  kValue,
  kOutput,
  kLogSum,  // [rows, heads] in f32: the logarithm of each softmax's denominator
  kOutputGradient,
  kQueryGradient,  // the first head in the packed gradient
  kKeyGradient,
  kValueGradient,
  kRowSums,    // f32, shaped like kLogSum: of output x output_gradient
  kQuerySums,  // f32, shaped like the output: accumulates the query gradient
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

/// Why a problem is not supported; empty if it is. Supported: bf16 or f16, sequences of multiples
/// of 128 (others need an additional mask before cuDNN 9.15.1), heads of multiples of 8 up to 128,
/// no shifted keys.
std::string refused(const AttentionProblem& problem);

/// Before 9.26, the backward kernels for compute capability 8.x (89: 8.9) ignore the strides of
/// kLogSum and expect heads first (cudnn-frontend's change 304); ours has rows first.
bool ignores_strides_of_sums(std::size_t cudnn_version, int compute_capability);

OperationGraph attention_forward_graph(const AttentionProblem& problem);
/// The query gradient is summed in no fixed order (atomics on kQuerySums): results differ from run
/// to run by rounding.
OperationGraph attention_backward_graph(const AttentionProblem& problem);

/// Attention by a library. Both passes throw Error(environment) for unsupported calls.
class LibraryAttention : public training::AttentionKernels {
 public:
  virtual std::string name() const = 0;  // "cudnn 9.19.0"
  /// Parts of attention are joined by our own kernels, whoever made them.
  void join(const training::AttentionShape&, const training::AttentionPart&,
            const training::AttentionPart&) final {
    throw Error(ErrorKind::internal, "attention: a library joins no parts");
  }
};

/// Access to the device for AttentionChoices.
struct ChoiceDevice {
  std::shared_ptr<training::Memory> memory;
  /// True while calls are recorded: nothing can be tried then.
  std::function<bool()> recording;
  /// The time of a call.
  std::function<double(const std::function<void()>&)> seconds;
};

/// Chooses between a library's attention and our own: the library's if it supports the shape,
/// agrees with our own and is faster. Both are tried at the first call of each shape, on its
/// tensors.
class AttentionChoices {
 public:
  /// Opens the library; throws Error(environment) if it is missing or does not start.
  using Open = std::function<std::unique_ptr<LibraryAttention>()>;

  /// `open` is called at the first supported problem (see refused()).
  AttentionChoices(Open open, ChoiceDevice device)
      : open_(std::move(open)), device_(std::move(device)) {}

  void forward(training::AttentionKernels& own, const training::AttentionShape& shape,
               training::View packed, training::View output, training::View log_sum);
  void backward(training::AttentionKernels& own, const training::AttentionShape& shape,
                const training::AttentionBackward& what);

  /// Begins a training. With `own_only` the library, whose results may differ from run to run, is
  /// not used.
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
  void join(const training::AttentionShape& shape, const training::AttentionPart& part,
            const training::AttentionPart& sum) override {
    own_->join(shape, part, sum);
  }

 private:
  std::shared_ptr<AttentionChoices> choices_;
  std::unique_ptr<training::AttentionKernels> own_;
};

/// The largest relative difference of a head's results over one sequence: root mean square of the
/// difference over that of `right`; infinite for NaN. Rows have heads x n values.
double worst_head(const std::vector<double>& found, const std::vector<double>& right,
                  std::int64_t heads, std::int64_t rows);

/// Both round probabilities to bf16 at different points: by 2^-9 each, about 0.004 in total. One
/// wrong row of 1024 gives 0.03.
inline constexpr double kAgreement = 0.02;

}  // namespace bench::cudnn
