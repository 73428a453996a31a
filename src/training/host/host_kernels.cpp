#include "training/host/host_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/view.h"

namespace bench::training {
namespace {

// bf16 and f16 kernels built on f32 kernels: inputs are widened, outputs are rounded to nearest.
// Not faster than f32; the reference for a GPU's results in these types.

/// Buffers for all calls, reused so that a step does not allocate.
using WideBuffers = std::deque<std::vector<float>>;

template <class T>
void widen(View from, float* to) {
  for (std::int64_t i = 0; i < from.elements(); ++i) to[i] = static_cast<float>(from.as<T>()[i]);
}
template <class T>
void round_into(const float* from, View to) {
  for (std::int64_t i = 0; i < to.elements(); ++i) to.as<T>()[i] = T(from[i]);
}
inline void widen(View from, float* to) {
  from.dtype == Dtype::f16 ? widen<F16>(from, to) : widen<Bf16>(from, to);
}
inline void round_into(const float* from, View to) {
  to.dtype == Dtype::f16 ? round_into<F16>(from, to) : round_into<Bf16>(from, to);
}

/// The views of one kernel call converted to f32. Views of f32 and wider types are unchanged.
class WideViews {
 public:
  explicit WideViews(WideBuffers& buffers) : buffers_(buffers) {}
  /// Rounds the outputs back.
  ~WideViews() {
    for (const Written& one : written_) round_into(one.wide, one.narrow);
  }
  WideViews(const WideViews&) = delete;
  WideViews& operator=(const WideViews&) = delete;

  View read(View view) { return make(view, true, false); }
  View written(View view) { return make(view, false, true); }
  View changed(View view) { return make(view, true, true); }
  View written_or_added(View view, bool add) { return make(view, add, true); }

 private:
  struct Written {
    View narrow;
    const float* wide;
  };

  View make(View view, bool reads, bool writes) {
    if (!view || !is_narrow(view.dtype)) return view;
    if (used_ == buffers_.size()) buffers_.emplace_back();
    std::vector<float>& buffer = buffers_[used_++];
    const auto count = static_cast<std::size_t>(view.elements());
    if (buffer.size() < count) buffer.resize(count);
    if (reads) widen(view, buffer.data());
    if (writes) written_.push_back({view, buffer.data()});
    return {buffer.data(), view.rows, view.columns, Dtype::f32};
  }

  WideBuffers& buffers_;
  std::size_t used_ = 0;
  std::vector<Written> written_ = {};
};

/// 16-bit kernels built on the f32 kernels.
template <class Group>
class Narrow : public Group {
 public:
  explicit Narrow(std::unique_ptr<Group> wide) : wide_(std::move(wide)) {}

 protected:
  std::unique_ptr<Group> wide_;
  WideBuffers buffers_ = {};
};

class NarrowGemm final : public Narrow<GemmKernels> {
 public:
  using Narrow::Narrow;
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    WideViews views(buffers_);
    GemmOptions wide = product;
    wide.addend = views.read(product.addend);
    wide.bias = views.read(product.bias);
    wide_->multiply(wide, views.read(a), views.read(b), views.written(c));
  }
};

class NarrowNorm final : public Narrow<NormKernels> {
 public:
  using Narrow::Narrow;
  void rms_forward(View x, View gain, double epsilon, View y, View statistics) override {
    WideViews views(buffers_);
    wide_->rms_forward(views.read(x), views.read(gain), epsilon, views.written(y), statistics);
  }
  void rms_backward(const NormBackward& what) override {
    WideViews views(buffers_);
    wide_->rms_backward(widened(views, what));
  }
  void layer_forward(View x, View gain, View bias, double epsilon, View y,
                     View statistics) override {
    WideViews views(buffers_);
    wide_->layer_forward(views.read(x), views.read(gain), views.read(bias), epsilon,
                         views.written(y), statistics);
  }
  void layer_backward(const NormBackward& what) override {
    WideViews views(buffers_);
    wide_->layer_backward(widened(views, what));
  }

 private:
  static NormBackward widened(WideViews& views, const NormBackward& what) {
    NormBackward wide = what;
    wide.x = views.read(what.x);
    wide.gain = views.read(what.gain);
    wide.output_gradient = views.read(what.output_gradient);
    wide.input_gradient = views.written_or_added(what.input_gradient, what.add_input);
    wide.gain_gradient = views.written_or_added(what.gain_gradient, what.add_gain);
    wide.bias_gradient = views.written_or_added(what.bias_gradient, what.add_bias);
    return wide;
  }
};

class NarrowRope final : public Narrow<RopeKernels> {
 public:
  using Narrow::Narrow;
  void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
              bool add) override {
    WideViews views(buffers_);
    wide_->rotate(shape, back, views.read(x), angles, views.written_or_added(y, add), add);
  }
};

class NarrowAttention final : public Narrow<AttentionKernels> {
 public:
  using Narrow::Narrow;
  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    WideViews views(buffers_);
    wide_->forward(shape, views.read(packed), views.written(output), log_sum);
  }
  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    WideViews views(buffers_);
    AttentionBackward wide = what;
    wide.packed = views.read(what.packed);
    wide.output = views.read(what.output);
    wide.output_gradient = views.read(what.output_gradient);
    wide.packed_gradient = views.written_or_added(what.packed_gradient, what.add);
    wide_->backward(shape, wide);
  }
  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    WideViews views(buffers_);
    wide_->join(shape, {views.read(part.output), part.log_sum},
                {views.changed(sum.output), sum.log_sum});
  }
};

class NarrowActivation final : public Narrow<ActivationKernels> {
 public:
  using Narrow::Narrow;
  void swiglu_forward(View x, View y) override {
    WideViews views(buffers_);
    wide_->swiglu_forward(views.read(x), views.written(y));
  }
  void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->swiglu_backward(views.read(x), views.read(y_gradient),
                           views.written_or_added(x_gradient, add), add);
  }
  void gelu_forward(View x, View y) override {
    WideViews views(buffers_);
    wide_->gelu_forward(views.read(x), views.written(y));
  }
  void gelu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->gelu_backward(views.read(x), views.read(y_gradient),
                         views.written_or_added(x_gradient, add), add);
  }
};

class NarrowElementwise final : public Narrow<ElementwiseKernels> {
 public:
  using Narrow::Narrow;
  void add(View a, View b, View y) override {
    WideViews views(buffers_);
    wide_->add(views.read(a), views.read(b), views.written(y));
  }
  void copy(View x, View y, bool add) override {
    WideViews views(buffers_);
    wide_->copy(views.read(x), views.written_or_added(y, add), add);
  }
  void column_sums(View x, View sums, bool add) override {
    WideViews views(buffers_);
    wide_->column_sums(views.read(x), views.written_or_added(sums, add), add);
  }
};

class NarrowEmbedding final : public Narrow<EmbeddingKernels> {
 public:
  using Narrow::Narrow;
  void forward(View ids, View table, View y) override {
    WideViews views(buffers_);
    wide_->forward(ids, views.read(table), views.written(y));
  }
  void backward(View ids, View y_gradient, View table_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->backward(ids, views.read(y_gradient), views.written_or_added(table_gradient, add), add);
  }
  void add_positions(View x, View table, std::int64_t sequence, View y) override {
    WideViews views(buffers_);
    wide_->add_positions(views.read(x), views.read(table), sequence, views.written(y));
  }
  void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                          bool add) override {
    WideViews views(buffers_);
    wide_->positions_backward(views.read(y_gradient), sequence,
                              views.written_or_added(table_gradient, add), add);
  }
};

class NarrowLoss final : public Narrow<LossKernels> {
 public:
  using Narrow::Narrow;
  void cross_entropy(View logits, View targets, double gradient_scale, View losses) override {
    WideViews views(buffers_);
    const View wide = gradient_scale == 0.0 ? views.read(logits) : views.changed(logits);
    wide_->cross_entropy(wide, targets, gradient_scale, losses);
  }
  void add_up(View losses, View sum, bool add) override { wide_->add_up(losses, sum, add); }
};

class NarrowVocabulary final : public Narrow<VocabularyKernels> {
 public:
  using Narrow::Narrow;
  void look_up(View tokens, const VocabularyPart& part, View table, View y) override {
    WideViews views(buffers_);
    wide_->look_up(tokens, part, views.read(table), views.written(y));
  }
  void look_up_backward(View tokens, const VocabularyPart& part, View y_gradient,
                        View table_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->look_up_backward(tokens, part, views.read(y_gradient),
                            views.written_or_added(table_gradient, add), add);
  }
  void summarize_logits(View logits, View targets, const VocabularyPart& part,
                        View statistics) override {
    WideViews views(buffers_);
    wide_->summarize_logits(views.read(logits), targets, part, statistics);
  }
  void cross_entropy(const DividedLoss& what) override {
    WideViews views(buffers_);
    DividedLoss wide = what;
    wide.logits = what.gradient_scale == 0.0 ? views.read(what.logits) : views.changed(what.logits);
    wide_->cross_entropy(wide);
  }
};

class NarrowDiffusion final : public Narrow<DiffusionKernels> {
 public:
  using Narrow::Narrow;
  void modulate(View x, View vectors, View y) override {
    WideViews views(buffers_);
    wide_->modulate(views.read(x), views.read(vectors), views.written(y));
  }
  void modulate_backward(const ModulateBackward& what) override {
    WideViews views(buffers_);
    wide_->modulate_backward({views.read(what.x), views.read(what.vectors),
                              views.read(what.y_gradient),
                              views.written_or_added(what.x_gradient, what.add_x),
                              views.written_or_added(what.vectors_gradient, what.add_vectors),
                              what.add_x, what.add_vectors});
  }
  void gate(View x, View gates, View residual, View y) override {
    WideViews views(buffers_);
    wide_->gate(views.read(x), views.read(gates), views.read(residual), views.written(y));
  }
  void gate_backward(const GateBackward& what) override {
    WideViews views(buffers_);
    wide_->gate_backward({views.read(what.x), views.read(what.gates), views.read(what.y_gradient),
                          views.written_or_added(what.x_gradient, what.add_x),
                          views.written_or_added(what.gates_gradient, what.add_gates), what.add_x,
                          what.add_gates});
  }
  void zero(View x) override {
    WideViews views(buffers_);
    wide_->zero(views.written(x));
  }
  void squared_error(View predictions, View targets, double gradient_scale, View losses) override {
    WideViews views(buffers_);
    const View wide = gradient_scale == 0.0 ? views.read(predictions) : views.changed(predictions);
    wide_->squared_error(wide, views.read(targets), gradient_scale, losses);
  }
};

class NarrowPolicy final : public Narrow<PolicyKernels> {
 public:
  using Narrow::Narrow;
  void loss(const PolicyLoss& what) override {
    WideViews views(buffers_);
    PolicyLoss wide = what;
    wide.logits = what.gradient_scale == 0.0 ? views.read(what.logits) : views.changed(what.logits);
    wide_->loss(wide);
  }
  void store(const AttentionShape& shape, View packed, std::int64_t sequences, std::int64_t first,
             View cache) override {
    WideViews views(buffers_);
    wide_->store(shape, views.read(packed), sequences, first, views.changed(cache));
  }
  void attend(const AttentionShape& shape, View packed, std::int64_t position, View cache,
              View output) override {
    WideViews views(buffers_);
    wide_->attend(shape, views.read(packed), position, views.read(cache), views.written(output));
  }
  void choose(View logits, View chances, double temperature, View tokens,
              View log_probabilities) override {
    WideViews views(buffers_);
    wide_->choose(views.read(logits), chances, temperature, tokens, log_probabilities);
  }
};

class NarrowConvolution final : public Narrow<ConvolutionKernels> {
 public:
  using Narrow::Narrow;
  void gather(const PatchShape& shape, View x, View patches) override {
    WideViews views(buffers_);
    wide_->gather(shape, views.read(x), views.written(patches));
  }
  void scatter(const PatchShape& shape, View patches, View x, bool add) override {
    WideViews views(buffers_);
    wide_->scatter(shape, views.read(patches), views.changed(x), add);
  }
  void group_norm(const GroupNormShape& shape, View x, View gain, View bias, View y,
                  View statistics) override {
    WideViews views(buffers_);
    wide_->group_norm(shape, views.read(x), views.read(gain), views.read(bias), views.written(y),
                      statistics);
  }
  void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) override {
    WideViews views(buffers_);
    GroupNormBackward wide = what;
    wide.x = views.read(what.x);
    wide.gain = views.read(what.gain);
    wide.bias = views.read(what.bias);
    wide.y_gradient = views.read(what.y_gradient);
    wide.x_gradient = views.written_or_added(what.x_gradient, what.add_x);
    wide.gain_gradient = views.written_or_added(what.gain_gradient, what.add_gain);
    wide.bias_gradient = views.written_or_added(what.bias_gradient, what.add_bias);
    wide_->group_norm_backward(shape, wide);
  }
  void upsample_add(std::int64_t width, View x, View base, View y) override {
    WideViews views(buffers_);
    wide_->upsample_add(width, views.read(x), views.read(base), views.written(y));
  }
  void upsample_backward(std::int64_t width, View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->upsample_backward(width, views.read(y_gradient), views.written_or_added(x_gradient, add),
                             add);
  }
};

class NarrowDetection final : public Narrow<DetectionKernels> {
 public:
  using Narrow::Narrow;
  void copy_blocks(const BlockCopy& copy, View from, View to, bool add) override {
    WideViews views(buffers_);
    wide_->copy_blocks(copy, views.read(from), views.changed(to), add);
  }
  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    WideViews views(buffers_);
    const View wide = gradient_scale == 0.0 ? views.read(predictions) : views.changed(predictions);
    wide_->detection_loss(shape, wide, targets, gradient_scale, losses);
  }
};

class NarrowClassifier final : public Narrow<ClassifierKernels> {
 public:
  using Narrow::Narrow;
  void max_pool(const PatchShape& window, View x, View y) override {
    WideViews views(buffers_);
    wide_->max_pool(window, views.read(x), views.written(y));
  }
  void max_pool_backward(const PatchShape& window, const PoolBackward& what) override {
    WideViews views(buffers_);
    wide_->max_pool_backward(window,
                             {views.read(what.x), views.read(what.y), views.read(what.y_gradient),
                              views.written_or_added(what.x_gradient, what.add), what.add});
  }
  void mean_rows(View x, View y) override {
    WideViews views(buffers_);
    wide_->mean_rows(views.read(x), views.written(y));
  }
  void mean_rows_backward(View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->mean_rows_backward(views.read(y_gradient), views.written_or_added(x_gradient, add), add);
  }
  void add_relu(View a, View b, View y) override {
    WideViews views(buffers_);
    wide_->add_relu(views.read(a), views.read(b), views.written(y));
  }
  void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->add_relu_backward(views.read(y), views.read(y_gradient),
                             views.written_or_added(x_gradient, add), add);
  }
  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    WideViews views(buffers_);
    const View wide = gradient_scale == 0.0 ? views.read(logits) : views.changed(logits);
    wide_->smoothed_cross_entropy(wide, targets, smoothing, gradient_scale, losses);
  }
};

class NarrowHstu final : public Narrow<HstuKernels> {
 public:
  using Narrow::Narrow;
  void silu(View x, View y) override {
    WideViews views(buffers_);
    wide_->silu(views.read(x), views.written(y));
  }
  void silu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    WideViews views(buffers_);
    wide_->silu_backward(views.read(x), views.read(y_gradient),
                         views.written_or_added(x_gradient, add), add);
  }
  void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) override {
    WideViews views(buffers_);
    wide_->attention(shape, widened(views, in), views.written(output));
  }
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    WideViews views(buffers_);
    HstuBackward wide = what;
    wide.in = widened(views, what.in);
    wide.output_gradient = views.read(what.output_gradient);
    wide.packed_gradient = views.written_or_added(what.packed_gradient, what.add_packed);
    wide.position_gradient = views.written_or_added(what.position_gradient, what.add_position);
    wide.time_gradient = views.written_or_added(what.time_gradient, what.add_time);
    wide_->attention_backward(shape, wide);
  }
  void gate(View x, View packed, View y) override {
    WideViews views(buffers_);
    wide_->gate(views.read(x), views.read(packed), views.written(y));
  }
  void gate_backward(const HstuGateBackward& what) override {
    WideViews views(buffers_);
    HstuGateBackward wide = what;
    wide.x = views.read(what.x);
    wide.packed = views.read(what.packed);
    wide.y_gradient = views.read(what.y_gradient);
    wide.x_gradient = views.written_or_added(what.x_gradient, what.add_x);
    wide.packed_gradient = views.written_or_added(what.packed_gradient, what.add_packed);
    wide_->gate_backward(wide);
  }
  void event_losses(View logits, View labels, double gradient_scale, View losses) override {
    WideViews views(buffers_);
    const View wide = gradient_scale == 0.0 ? views.read(logits) : views.changed(logits);
    wide_->event_losses(wide, labels, gradient_scale, losses);
  }

 private:
  static HstuInputs widened(WideViews& views, const HstuInputs& in) {
    HstuInputs wide = in;
    wide.packed = views.read(in.packed);
    wide.position_bias = views.read(in.position_bias);
    wide.time_bias = views.read(in.time_bias);
    return wide;
  }
};

class NarrowNeighbours final : public Narrow<NeighbourKernels> {
 public:
  using Narrow::Narrow;
  void attention(const NeighbourShape& shape, const NeighbourInputs& in, View output) override {
    WideViews views(buffers_);
    wide_->attention(shape, widened(views, in), views.written(output));
  }
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    WideViews views(buffers_);
    NeighbourBackward wide = what;
    wide.in = widened(views, what.in);
    wide.output_gradient = views.read(what.output_gradient);
    wide.values_gradient = views.written_or_added(what.values_gradient, what.add_values);
    wide.own_gradient = views.written_or_added(what.own_gradient, what.add_own);
    wide.vector_gradient = views.written_or_added(what.vector_gradient, what.add_vector);
    wide_->attention_backward(shape, wide);
  }

 private:
  static NeighbourInputs widened(WideViews& views, const NeighbourInputs& in) {
    return {views.read(in.values), views.read(in.own), views.read(in.vector)};
  }
};

class NarrowUpdates final : public Narrow<OptimizerKernels> {
 public:
  using Narrow::Narrow;
  void adamw(const AdamwRange& range) override {
    update_masters(range, [&](const AdamwRange& wide) { wide_->adamw(wide); });
  }
  void momentum(const MomentumRange& range) override {
    update_masters(range, [&](const MomentumRange& wide) { wide_->momentum(wide); });
  }
  /// Tables are f32, whatever the model is (SparseTables).
  void adagrad_rows(const AdagradRows& rows) override { wide_->adagrad_rows(rows); }
  double square_sum(View x) override {
    WideViews views(buffers_);
    return wide_->square_sum(views.read(x));
  }

 private:
  /// Updates the f32 master weights; the 16-bit ones are these, rounded.
  template <class Range, class Update>
  void update_masters(const Range& range, const Update& update) {
    WideViews views(buffers_);
    Range wide = range;
    wide.gradients = views.read(range.gradients);
    wide.parameters = range.master;
    if (range.start)
      std::memcpy(range.master.data, views.read(range.parameters).data,
                  static_cast<std::size_t>(range.master.elements()) * sizeof(float));
    update(wide);
    round_into(wide.parameters.template as<float>(), range.parameters);
  }
};

/// All groups except those of click models and tables, which are f32 only.
KernelSet narrow_kernels(KernelSet wide) {
  KernelSet set;
  set.gemm = std::make_unique<NarrowGemm>(std::move(wide.gemm));
  set.norm = std::make_unique<NarrowNorm>(std::move(wide.norm));
  set.rope = std::make_unique<NarrowRope>(std::move(wide.rope));
  set.attention = std::make_unique<NarrowAttention>(std::move(wide.attention));
  set.activation = std::make_unique<NarrowActivation>(std::move(wide.activation));
  set.elementwise = std::make_unique<NarrowElementwise>(std::move(wide.elementwise));
  set.embedding = std::make_unique<NarrowEmbedding>(std::move(wide.embedding));
  set.loss = std::make_unique<NarrowLoss>(std::move(wide.loss));
  set.vocabulary = std::make_unique<NarrowVocabulary>(std::move(wide.vocabulary));
  set.diffusion = std::make_unique<NarrowDiffusion>(std::move(wide.diffusion));
  set.policy = std::make_unique<NarrowPolicy>(std::move(wide.policy));
  set.convolution = std::make_unique<NarrowConvolution>(std::move(wide.convolution));
  set.detection = std::make_unique<NarrowDetection>(std::move(wide.detection));
  set.classifier = std::make_unique<NarrowClassifier>(std::move(wide.classifier));
  set.hstu = std::make_unique<NarrowHstu>(std::move(wide.hstu));
  set.neighbours = std::make_unique<NarrowNeighbours>(std::move(wide.neighbours));
  set.optimizer = std::make_unique<NarrowUpdates>(std::move(wide.optimizer));
  return set;
}

}  // namespace

std::vector<std::string_view> host_kernel_isas() {
  std::vector<std::string_view> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    found.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back("avx2");
#endif
  found.push_back("baseline");
  return found;
}

KernelSet host_kernels(Dtype dtype, std::string_view isa) {
  if (dtype == Dtype::bf16 || dtype == Dtype::f16)
    return narrow_kernels(host_kernels(Dtype::f32, isa));
  if (dtype != Dtype::f32 && dtype != Dtype::f64)
    throw Error(ErrorKind::input,
                "CPU kernels do not support " + std::string(to_string(dtype)) + " tensors",
                "train in f32 on CPUs");
  const auto isas = host_kernel_isas();
  if (std::find(isas.begin(), isas.end(), isa) == isas.end())
    throw Error(ErrorKind::input, "this CPU does not support kernels '" + std::string(isa) + "'",
                "use baseline, which runs on every CPU");
#if defined(__x86_64__)
  if (isa == "avx512") return avx512_kernels(dtype);
  if (isa == "avx2") return avx2_kernels(dtype);
#endif
  return baseline_kernels(dtype);
}

KernelSet host_kernels(Dtype dtype) { return host_kernels(dtype, host_kernel_isa()); }

std::string_view host_kernel_isa() {
  const char* asked = std::getenv("BENCH_TRAINING_ISA");
  return asked && *asked ? asked : host_kernel_isas().front();
}

}  // namespace bench::training

namespace bench {
namespace {

class HostTrainingKernels final : public TrainingKernels {
 public:
  std::string name() const override { return std::string(training::host_kernel_isa()); }
  training::KernelSet make(Dtype dtype) override { return training::host_kernels(dtype); }
};

}  // namespace

std::unique_ptr<TrainingKernels> make_host_training_kernels() {
  return std::make_unique<HostTrainingKernels>();
}

}  // namespace bench
