// The kernels of one device in groups, so that a test or a device can replace single groups. A set
// belongs to one lane (thread or stream): its scratch memory is not shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "training/kernels/classifier_kernels.h"
#include "training/kernels/convolution_kernels.h"
#include "training/kernels/detection_kernels.h"
#include "training/kernels/diffusion_kernels.h"
#include "training/kernels/expert_kernels.h"
#include "training/kernels/hstu_kernels.h"
#include "training/kernels/memory.h"
#include "training/kernels/neighbour_kernels.h"
#include "training/kernels/policy_kernels.h"
#include "training/kernels/rank_kernels.h"
#include "training/kernels/view.h"
#include "training/kernels/vocabulary_kernels.h"

namespace bench::training {

/// Identifies recorded work: its actions, and all its arguments that are not tensors.
struct RecordingKey {
  int first = 0, last = 0;
  bool first_micro_batch = true;
  double gradient_scale = 0.0;
  /// The optimizer's work, which is not an action; the first update differs from later ones.
  static RecordingKey of_update(bool first) { return {-1, first ? 0 : -1}; }
  bool operator==(const RecordingKey&) const = default;
};

/// Records a device's work and replays it as a whole (a CUDA graph).
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Runs `work`: directly the first time, later from a recording. It must contain only kernel
  /// calls on tensors at the same addresses.
  virtual void run(const RecordingKey& key, const std::function<void()>& work) = 0;
};

// Recommender operations other than GEMMs: ReLU, interactions between features, the loss of a
// click. A gradient is added if its `add` is set, else written.

/// y = x0 * u + x, elementwise. Gradients may be absent; that of x equals that of y.
struct CrossBackward {
  View x0, u, y_gradient;
  View x0_gradient, u_gradient;
  bool add_x0 = false, add_u = false;
};

/// Features of one row: first [rows, d] is number 0, rest [rows, features d] are the others. y
/// [rows, d + pairs]: the first one again, then <feature i, feature j> for j < i, by i and then j.
struct DotBackward {
  View first, rest, y_gradient;
  View first_gradient, rest_gradient;  // may be absent
  bool add_first = false, add_rest = false;
};

class RecommenderKernels {
 public:
  virtual ~RecommenderKernels() = default;
  /// y = max(x, 0), and y may be x; the slope at 0 is 0. x_gradient may be y_gradient.
  virtual void relu_forward(View x, View y) = 0;
  virtual void relu_backward(View y, View y_gradient, View x_gradient, bool add) = 0;
  virtual void cross_forward(View x0, View u, View x, View y) = 0;
  virtual void cross_backward(const CrossBackward& what) = 0;
  virtual void dot_forward(View first, View rest, View y) = 0;
  virtual void dot_backward(const DotBackward& what) = 0;
  /// Copies `columns` columns of `from`, from `from_column` on, to those of `to`.
  virtual void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                            std::int64_t columns, bool add) = 0;
  /// Sets `columns` columns of `x`, from `column` on, to zero.
  virtual void zero_columns(View x, std::int64_t column, std::int64_t columns) = 0;
  /// losses[i] (f64, [rows, 1]) = -log of the probability of labels[i] (0 or 1, in the type of the
  /// logits), in nats; p = 1 / (1 + e^-logits[i]) is that of a click. If `gradient_scale` is not 0,
  /// the logits are overwritten with gradient_scale x (p - label).
  virtual void binary_cross_entropy(View logits, View labels, double gradient_scale,
                                    View losses) = 0;
};

// Updates of a range of parameters, elementwise; state has accumulator_of the type of the
// parameters.

/// The values of an update that change in each step. Stored in the tensors' memory, so that a
/// recorded update can be replayed.
struct StepNumbers {
  double rate = 0.0;                            // learning rate
  double gradient_scale = 1.0;                  // of clipping
  double correction1 = 1.0, correction2 = 1.0;  // AdamW's: 1 / (1 - beta^t)
};

struct AdamwRange {
  View parameters, gradients, first, second;
  const StepNumbers* step = nullptr;  // in the tensors' memory
  /// Of parameters in bf16 or f16: the f32 values from which they are rounded; absent for others.
  View master = {};
  bool start = false;  // master is not set yet: copy the parameters
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0.0;  // decoupled: parameter -= rate x decay x parameter
};

/// velocity = momentum x velocity + gradient + decay x parameter, parameter -= rate x velocity.
struct MomentumRange {
  View parameters, gradients, velocity;
  const StepNumbers* step = nullptr;  // as AdamwRange has it, like master and start
  View master = {};
  bool start = false;
  double momentum = 0.9;
  double decay = 0.0;  // coupled: it goes through the velocity
};

/// Rows named by `ids` (int32, each once) of a table: state[id] += mean(g^2),
/// table[id] -= rate g / (sqrt(state[id]) + epsilon).
struct AdagradRows {
  View table, ids, gradients, state;
  double rate = 0.0, epsilon = 1e-8;
};

class OptimizerKernels {
 public:
  virtual ~OptimizerKernels() = default;
  virtual void adamw(const AdamwRange& range) = 0;
  virtual void momentum(const MomentumRange& range) = 0;
  virtual void adagrad_rows(const AdagradRows& rows) = 0;
  /// Sum of squares, in f64.
  virtual double square_sum(View x) = 0;
};

/// Normalization of rows. Gradients are added if their `add` is set, else written.
struct NormBackward {
  View x, gain;     // arguments of forward
  View statistics;  // result of forward
  View output_gradient;
  View input_gradient;
  View gain_gradient, bias_gradient;  // one row each; may be absent
  bool add_input = false;
  bool add_gain = false;
  bool add_bias = false;
};

class NormKernels {
 public:
  virtual ~NormKernels() = default;
  /// y = x r gain; statistics [rows, 1] are r = 1/sqrt(mean(x^2) + epsilon).
  virtual void rms_forward(View x, View gain, double epsilon, View y, View statistics) = 0;
  virtual void rms_backward(const NormBackward& what) = 0;
  /// y = (x - mean) r gain + bias; statistics [rows, 2] are mean and r = 1/sqrt(var + epsilon).
  virtual void layer_forward(View x, View gain, View bias, double epsilon, View y,
                             View statistics) = 0;
  virtual void layer_backward(const NormBackward& what) = 0;
};

class LossKernels {
 public:
  virtual ~LossKernels() = default;
  /// losses[i] (always f64, [rows, 1]) = log sum exp(logits[i]) - logits[i, targets[i]], in nats;
  /// targets int32. A negative target is ignored: loss and gradient are 0. If `gradient_scale` is
  /// not 0, the logits are overwritten with gradient_scale x (softmax - onehot), in one pass and
  /// without a second buffer as large as the vocabulary.
  virtual void cross_entropy(View logits, View targets, double gradient_scale, View losses) = 0;
  /// sum[1, 1] = sum of losses, or added to it; both f64, summed in one fixed order.
  virtual void add_up(View losses, View sum, bool add) = 0;
};

/// The GELU step (as in ActivationKernels) fused into a GEMM.
enum class GeluStep { none, forward, backward };

struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  View addend = {};  // of the result's shape, may be the result: c = addend + a b
  View bias = {};    // one row, added to every row of the result
  /// forward: c = gelu(sum), and the sum is stored here. backward: c = a b x gelu'(this).
  GeluStep gelu = GeluStep::none;
  View gelu_input = {};
};

class GemmKernels {
 public:
  virtual ~GemmKernels() = default;
  /// c[m,n] = op(a)[m,k] op(b)[k,n] + addend + bias, all row-major.
  virtual void multiply(const GemmOptions& product, View a, View b, View c) = 0;
  /// Whether multiply() can fuse the GELU step; multiply_gelu() handles both cases.
  virtual bool fuses(const GemmOptions& product, View a, View b, View c) {
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(c);
    return product.gelu == GeluStep::none;
  }
};

class EmbeddingKernels {
 public:
  virtual ~EmbeddingKernels() = default;
  /// y[i] = table[ids[i]], ids int32 [rows, 1]. Throws Error(input), naming row and ID, for an ID
  /// out of range.
  virtual void forward(View ids, View table, View y) = 0;
  /// table_gradient[ids[i]] += y_gradient[i], in the order of i, after zeroing unless `add`.
  virtual void backward(View ids, View y_gradient, View table_gradient, bool add) = 0;
  /// y[i] = x[i] + table[i mod sequence]: learned positions. y may be x.
  virtual void add_positions(View x, View table, std::int64_t sequence, View y) = 0;
  virtual void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                                  bool add) = 0;
};

class ElementwiseKernels {
 public:
  virtual ~ElementwiseKernels() = default;
  /// y = a + b, and y may be either.
  virtual void add(View a, View b, View y) = 0;
  /// y = x, or y += x.
  virtual void copy(View x, View y, bool add) = 0;
  /// sums[1, columns] = sum over the rows of x, or added to it.
  virtual void column_sums(View x, View sums, bool add) = 0;
};

/// IDs for sums of table rows, equally many per sample ("multi-hot"). IDs and sums are parts of
/// rows of wider buffers: hence the strides.
struct BagIds {
  const std::int32_t* data = nullptr;
  std::int64_t bags = 0;
  std::int64_t lookups = 1;  // of each bag
  std::int64_t stride = 1;   // elements from bag to bag
};

class BagKernels {
 public:
  virtual ~BagKernels() = default;
  /// y[bag] = sum of table[id - first_row] over the bag's IDs in order, ignoring IDs outside the
  /// table. y has `y_stride` elements from bag to bag.
  virtual void pool(const BagIds& ids, View table, std::int64_t first_row, float* y,
                    std::int64_t y_stride) = 0;
  /// sums[slot] += scale x y_gradient[bag] for each of the bag's slots, bag by bag, except negative
  /// ones.
  virtual void add(const BagIds& slots, const float* y_gradient, std::int64_t y_stride, float scale,
                   View sums) = 0;
};

/// Attention over packed rows [q heads | k heads | v heads], each head `head_dim` wide.
struct AttentionShape {
  std::int64_t sequence = 0;  // rows of one sequence; the batch is rows / sequence
  std::int64_t heads = 0;     // of queries
  std::int64_t kv_heads = 0;  // divides heads: query head h reads kv head h / (heads / kv_heads)
  std::int64_t head_dim = 0;
  bool causal = true;
  /// Number of first kv heads that see the key of the previous position (zero for the first
  /// position): "partial key offset". An induction head then needs only one layer.
  std::int64_t shifted_kv_heads = 0;

  std::int64_t packed_columns() const { return (heads + 2 * kv_heads) * head_dim; }
  std::int64_t output_columns() const { return heads * head_dim; }
  bool operator==(const AttentionShape&) const = default;
};

struct AttentionBackward {
  View packed, output, output_gradient;
  View log_sum;    // [rows, heads], of forward
  View workspace;  // [rows, heads]: row sums of output x output_gradient
  View packed_gradient;
  bool add = false;
};

/// Results of forward() over some of the keys.
struct AttentionPart {
  View output, log_sum;
};

class AttentionKernels {
 public:
  virtual ~AttentionKernels() = default;
  /// output[rows, heads x head_dim] = softmax(q k^T / sqrt(head_dim)) v. Keeps no sequence x
  /// sequence matrix, only log_sum [rows, heads], the logarithm of each softmax's denominator.
  virtual void forward(const AttentionShape& shape, View packed, View output, View log_sum) = 0;
  /// Gradients of the keys and queries of `packed`, which may be some of those over which output
  /// and log_sum were made: then the sum over all parts is the whole gradient.
  virtual void backward(const AttentionShape& shape, const AttentionBackward& what) = 0;
  /// `sum` becomes the attention of the same queries over the keys of both, whose softmax is that
  /// of each weighted by e^log_sum (arXiv 2310.01889).
  virtual void join(const AttentionShape& shape, const AttentionPart& part,
                    const AttentionPart& sum) = 0;
};

class RopeKernels {
 public:
  virtual ~RopeKernels() = default;
  /// RoPE: rotates the pair (i, i + head_dim/2) of each q and k head by position x
  /// theta^(-2i/head_dim), or `back`, for the gradient; v is copied. `angles` [sequence, head_dim]
  /// has head_dim/2 cosines, then as many sines. y may be x.
  virtual void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
                      bool add) = 0;
};

class ActivationKernels {
 public:
  virtual ~ActivationKernels() = default;
  /// y[rows, n] = silu(x[:, :n]) x[:, n:], x [rows, 2n].
  virtual void swiglu_forward(View x, View y) = 0;
  virtual void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) = 0;
  /// The tanh form of GPT-2. x_gradient may be y_gradient.
  virtual void gelu_forward(View x, View y) = 0;
  virtual void gelu_backward(View x, View y_gradient, View x_gradient, bool add) = 0;
};

struct KernelSet {
  /// The memory of the tensors that these kernels use.
  std::shared_ptr<Memory> memory = host_memory();
  std::unique_ptr<GemmKernels> gemm = {};
  std::unique_ptr<NormKernels> norm = {};
  std::unique_ptr<RopeKernels> rope = {};
  std::unique_ptr<AttentionKernels> attention = {};
  std::unique_ptr<ActivationKernels> activation = {};
  std::unique_ptr<ElementwiseKernels> elementwise = {};
  std::unique_ptr<EmbeddingKernels> embedding = {};
  std::unique_ptr<LossKernels> loss = {};
  std::unique_ptr<VocabularyKernels> vocabulary = {};
  std::unique_ptr<DiffusionKernels> diffusion = {};
  std::unique_ptr<PolicyKernels> policy = {};
  std::unique_ptr<ConvolutionKernels> convolution = {};
  std::unique_ptr<DetectionKernels> detection = {};
  std::unique_ptr<ClassifierKernels> classifier = {};
  std::unique_ptr<HstuKernels> hstu = {};
  std::unique_ptr<NeighbourKernels> neighbours = {};
  std::unique_ptr<OptimizerKernels> optimizer = {};
  std::unique_ptr<RecommenderKernels> recommender = {};  // null for 16-bit types
  std::unique_ptr<BagKernels> bags = {};
  std::unique_ptr<ExpertKernels> experts = {};     // null for 16-bit types and on GPUs
  std::unique_ptr<RankKernels> context = {};       // of ranks that divide the tokens of samples
  std::unique_ptr<RankKernels> expert_ranks = {};  // of ranks that divide the experts
  std::unique_ptr<RankKernels> ranks = {};   // tensor ranks of a model that is divided over them
  std::unique_ptr<RankKernels> copies = {};  // copies of a model that share its parameters
  std::unique_ptr<Recorder> recorder = {};   // null if calls have no launch cost
};

/// Makes the kernels of one lane for tensors of `dtype`. Statistics (log_sum, a norm's mean and r),
/// constants and optimizer state are of accumulator_of(dtype).
using KernelFactory = std::function<KernelSet(Dtype dtype)>;

}  // namespace bench::training
