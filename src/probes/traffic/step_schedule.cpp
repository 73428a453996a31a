#include "probes/traffic/step_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "training/engine/gradient_blocks.h"
#include "training/kernels/memory.h"
#include "training/kernels/vocabulary_kernels.h"
#include "training/parallel/bucket_exchange.h"

namespace bench {
namespace {

using Tensors = std::vector<TrafficTensor>;

std::int64_t aligned_elements(std::int64_t elements, Dtype dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t at = training::kAlignment;
  return (elements * size + at - 1) / at * at / size;
}

/// The tokens of the vocabulary that a rank has.
std::int64_t own_tokens(const StepSettings& settings, const TrafficPlace& place) {
  const training::ModelPart part{.tensor_rank = place.tensor,
                                 .tensor_ranks = settings.split.tensor};
  const auto [first, end] = part.tokens(settings.model.vocabulary);
  return end - first;
}

class StepBuilder {
 public:
  StepBuilder(const StepSettings& settings, const TrafficPlace& place)
      : s_(settings),
        m_(settings.model),
        place_(place),
        by_{settings.split.tensor, own_tokens(settings, place), settings.split.expert},
        norms_(m_.biases ? 2 : 1),
        query_columns_(m_.query_columns() / settings.split.tensor),
        kv_columns_(m_.kv_columns() / settings.split.tensor),
        rows_(settings.micro_batch * m_.sequence / settings.split.context),
        divides_rows_(settings.split.sequence_parallel && settings.split.tensor > 1),
        residual_rows_(divides_rows_ ? rows_ / settings.split.tensor : rows_),
        shards_(settings.split.zero >= 2 && size(TrafficGroup::data) > 1) {
    const training::ModelPart part{.stage = place.stage, .stages = settings.split.pipeline};
    std::tie(first_layer_, last_layer_) = part.layers(m_.layers);
    is_first_ = part.is_first_stage();
    is_last_ = part.is_last_stage();
    step_.overlaps = settings.overlap && settings.split.ranks_of_copy() == 1 &&
                     settings.split.expert == 1 && !shards_ && size(TrafficGroup::data) > 1;
    passes_ = training::stage_passes(settings.split.schedule, part,
                                     static_cast<int>(settings.micro_batches));
    make_gradient_rows();
  }

  StepSchedule build() {
    for (const training::StagePass& pass : passes_) {
      micro_batch_ = pass.micro_batch;
      const bool is_forward = pass.kind == training::StagePass::forward;
      pass_ = is_forward ? TrafficPass::forward : TrafficPass::backward;
      slot_ = is_forward ? 0 : kBackwardSlots;
      if (is_forward)
        forward();
      else
        backward();
    }
    pass_ = TrafficPass::update;
    slot_ = 2 * kBackwardSlots;
    micro_batch_ = 0;
    exchange_gradients();
    update();
    number_slots();
    return std::move(step_);
  }

 private:
  static constexpr int kBackwardSlots = 1 << 28;  // more than a pass has

  int size(TrafficGroup group) const { return group_size(group, s_.split, place_); }
  int rank(TrafficGroup group) const { return rank_in_group(group, s_.split, place_); }

  void count_operation() {
    if (++operations_ > kMostOperations) refuse_operations();
  }
  TrafficOp& add(TrafficKind kind, TrafficGroup group, std::string_view what,
                 std::int64_t elements) {
    count_operation();
    step_.ops.push_back({.kind = kind,
                         .group = group,
                         .what = what,
                         .pass = pass_,
                         .micro_batch = micro_batch_,
                         .elements = elements});
    if (kind != TrafficKind::compute) step_.ops.back().slot = slot_++;
    return step_.ops.back();
  }
  void exchange(TrafficKind kind, TrafficGroup group, std::string_view what,
                std::int64_t elements) {
    if (size(group) > 1 && elements > 0) add(kind, group, what, elements);
  }
  void message(TrafficKind kind, TrafficGroup group, std::string_view what, std::int64_t elements,
               int peer) {
    add(kind, group, what, elements).peer = peer;
  }

  /// A GEMM of a forward pass; of a backward pass the two GEMMs for both gradients.
  void compute(std::string_view what, std::int64_t m, std::int64_t n, std::int64_t k,
               std::int64_t calls = 1) {
    if (m < 1 || n < 1 || k < 1 || calls < 1) return;
    if (step_.ops.empty() || step_.ops.back().kind != TrafficKind::compute ||
        step_.ops.back().pass != pass_ || step_.ops.back().micro_batch != micro_batch_)
      add(TrafficKind::compute, TrafficGroup::all, what, 0);
    count_operation();
    step_.ops.back().gemms.push_back(
        {{m, n, k}, pass_ == TrafficPass::backward ? 2 * calls : calls});
  }

  // Shards of parameters (ZeRO-2 and 3).

  void gather_shard(const TrafficTensor& tensor, bool of_experts) {
    if (!shards_) return;
    const TrafficGroup group = of_experts ? TrafficGroup::expert_data : TrafficGroup::data;
    exchange(TrafficKind::gather, group, "parameters", shard(tensor, group));
  }
  void gather_again(const TrafficTensor& tensor, bool of_experts) {
    if (s_.split.zero >= 3) gather_shard(tensor, of_experts);
  }
  void scatter_shard(const TrafficTensor& tensor, bool of_experts) {
    if (!shards_) return;
    const TrafficGroup group = of_experts ? TrafficGroup::expert_data : TrafficGroup::data;
    exchange(TrafficKind::scatter_sum, group, "gradients", shard(tensor, group));
  }
  std::int64_t shard(const TrafficTensor& tensor, TrafficGroup group) const {
    return (tensor.elements + size(group) - 1) / size(group);
  }

  // Between divided matrices and what tensor ranks do not divide.

  void enter_divided() {
    if (divides_rows_)
      exchange(TrafficKind::gather, TrafficGroup::tensor, "rows", residual_rows_ * m_.width);
  }
  void leave_divided(std::string_view what) {
    if (divides_rows_)
      exchange(TrafficKind::scatter_sum, TrafficGroup::tensor, what, residual_rows_ * m_.width);
    else
      exchange(TrafficKind::sum, TrafficGroup::tensor, what, rows_ * m_.width);
  }
  void leave_divided_backward() {
    if (divides_rows_)
      exchange(TrafficKind::gather, TrafficGroup::tensor, "gradient rows",
               residual_rows_ * m_.width);
  }
  void enter_divided_backward(std::string_view what) {
    if (divides_rows_)
      exchange(TrafficKind::scatter_sum, TrafficGroup::tensor, what, residual_rows_ * m_.width);
    else
      exchange(TrafficKind::sum, TrafficGroup::tensor, what, rows_ * m_.width);
  }
  /// Gains and biases of a norm: each rank has the gradient of its rows.
  void norm_backward(const Tensors& tensors) {
    if (!divides_rows_)  // else the trainer keeps a copy of the gain for its own rows
      for (const TrafficTensor& tensor : tensors)
        if (tensor.kind == TrafficTensor::Kind::gain) gather_again(tensor, false);
    for (std::size_t i = std::min<std::size_t>(tensors.size(), m_.biases ? 2 : 1); i-- > 0;) {
      if (divides_rows_)
        exchange(TrafficKind::sum, TrafficGroup::tensor, "norm gradient", tensors[i].elements);
      scatter_shard(tensors[i], false);
    }
  }

  /// What ranks exchange for the loss of a divided vocabulary, in elements of the step's type.
  std::int64_t logit_statistics() const {
    const auto size = static_cast<std::int64_t>(size_of(training::accumulator_of(s_.dtype)));
    return rows_ * training::kLogitStatistics * size / static_cast<std::int64_t>(size_of(s_.dtype));
  }

  // Attention.

  std::int64_t key_values() const { return rows_ * 2 * kv_columns_; }
  /// Scores and their use for one of the cp parts of the keys, causal: half of them.
  void attention_part() {
    const std::int64_t own = m_.sequence / s_.split.context;
    const std::int64_t keys = std::max<std::int64_t>(1, own / 2);
    const std::int64_t calls = s_.micro_batch * m_.heads / s_.split.tensor;
    compute("attention", own, keys, m_.head_dim, calls);
    compute("attention", own, m_.head_dim, keys, calls);
  }
  void pass_on(std::string_view what, bool send) {
    const int ranks = size(TrafficGroup::context), own = rank(TrafficGroup::context);
    const int peer = send ? (own + 1) % ranks : (own + ranks - 1) % ranks;
    message(send ? TrafficKind::send : TrafficKind::receive, TrafficGroup::context, what,
            key_values(), peer);
  }
  /// Shifted heads need the last key before each chunk of tokens (way 1), whose gradient returns
  /// (-1).
  void pass_edges(int way) {
    const training::ContextPart part{rank(TrafficGroup::context), s_.split.context};
    const std::int64_t own_heads = m_.kv_heads / s_.split.tensor;
    const std::int64_t shifted =
        std::clamp<std::int64_t>(m_.shifted_kv_heads - place_.tensor * own_heads, 0, own_heads);
    if (shifted == 0) return;
    const std::int64_t elements = s_.micro_batch * shifted * m_.head_dim;
    for (const bool send : {true, false})
      for (const int chunk : part.own_chunks())
        if (const int other = send ? chunk + way : chunk - way; part.is_elsewhere(other))
          message(send ? TrafficKind::send : TrafficKind::receive, TrafficGroup::context,
                  "keys before a chunk", elements, part.owner(other));
  }
  void attention() {
    const int parts = s_.split.context;
    const bool back = pass_ == TrafficPass::backward;
    const bool ring = parts > 1 && s_.context == ContextExchange::ring;
    if (ring) pass_edges(1);
    if (!ring)
      exchange(TrafficKind::gather, TrafficGroup::context, "keys and values", key_values());
    for (int part = 0; part < parts; ++part) {
      const bool passes = ring && part + 1 < parts;
      if (passes) pass_on("keys and values", true);
      attention_part();
      if (passes) pass_on("keys and values", false);
      if (ring && back) pass_on("gradients of keys", true);
      if (ring && back) pass_on("gradients of keys", false);
    }
    if (ring && back) pass_edges(-1);
    if (!ring && back)
      exchange(TrafficKind::scatter_sum, TrafficGroup::context, "gradients of keys", key_values());
  }

  void attention_block() {
    const Tensors tensors = attention_tensors(m_, by_);
    for (std::size_t i = 0; i < norms_; ++i) gather_shard(tensors[i], false);
    enter_divided();
    for (std::size_t i = norms_; i < 2 * norms_; ++i) gather_shard(tensors[i], false);
    compute("attention", rows_, query_columns_ + 2 * kv_columns_, m_.width);
    attention();
    for (std::size_t i = 2 * norms_; i < tensors.size(); ++i) gather_shard(tensors[i], false);
    compute("attention", rows_, m_.width, query_columns_);
    leave_divided("attention output");
  }
  void attention_block_backward() {
    const Tensors tensors = attention_tensors(m_, by_);
    leave_divided_backward();
    linear_backward(tensors, 2 * norms_, rows_, m_.width, query_columns_);
    attention();
    linear_backward(tensors, norms_, rows_, query_columns_ + 2 * kv_columns_, m_.width);
    enter_divided_backward("attention input gradient");
    norm_backward(tensors);
    finish(tensors);
  }
  /// Of the matrix at `at` in the tensors, and its bias.
  void linear_backward(const Tensors& tensors, std::size_t at, std::int64_t m, std::int64_t n,
                       std::int64_t k) {
    gather_again(tensors[at], false);
    compute("backward", m, n, k);
    if (m_.biases) scatter_shard(tensors[at + 1], false);
    scatter_shard(tensors[at], false);
  }

  // Feed-forward parts.

  void feed_forward_block(std::int64_t layer) {
    const Tensors tensors = feed_forward_tensors(m_, layer, by_);
    for (std::size_t i = 0; i < norms_; ++i) gather_shard(tensors[i], false);
    if (m_.routes(layer)) {
      enter_divided();
      for (std::size_t i = norms_; i < tensors.size(); ++i) gather_shard(tensors[i], false);
      compute("router", rows_, m_.experts, m_.width);
      experts(layer, expert_tensors(m_, layer, by_));
    } else {
      const std::int64_t hidden = m_.hidden / s_.split.tensor, up = (m_.gated ? 2 : 1) * hidden;
      for (std::size_t i = norms_; i < 2 * norms_; ++i) gather_shard(tensors[i], false);
      enter_divided();
      compute("feed-forward", rows_, up, m_.width);
      for (std::size_t i = 2 * norms_; i < tensors.size(); ++i) gather_shard(tensors[i], false);
      compute("feed-forward", rows_, m_.width, hidden);
    }
    leave_divided("feed-forward output");
  }
  void feed_forward_block_backward(std::int64_t layer) {
    const Tensors tensors = feed_forward_tensors(m_, layer, by_);
    leave_divided_backward();
    if (m_.routes(layer)) {
      experts(layer, expert_tensors(m_, layer, by_));
      linear_backward(tensors, norms_, rows_, m_.experts, m_.width);
      enter_divided_backward("feed-forward input gradient");
      norm_backward(tensors);
    } else {
      const std::int64_t hidden = m_.hidden / s_.split.tensor, up = (m_.gated ? 2 : 1) * hidden;
      linear_backward(tensors, 2 * norms_, rows_, m_.width, hidden);
      gather_again(tensors[norms_], false);
      compute("backward", rows_, up, m_.width);
      enter_divided_backward("feed-forward input gradient");
      if (m_.biases) scatter_shard(tensors[norms_ + 1], false);
      scatter_shard(tensors[norms_], false);
      norm_backward(tensors);
    }
    finish(tensors);
  }

  /// Rows from each rank with experts of a layer (the first index) to each.
  using Routes = std::vector<std::vector<std::int64_t>>;
  Routes routes(std::int64_t layer) {
    const int ranks = size(TrafficGroup::expert);
    const std::int64_t first = place_.token_rank(s_.split) - rank(TrafficGroup::expert);
    const std::int64_t each = m_.experts / ranks;
    Routes routes;
    std::vector<std::int64_t> received(static_cast<std::size_t>(ranks), 0);
    for (int sender = 0; sender < ranks; ++sender) {
      const auto counts =
          s_.routing.counts(layer, micro_batch_, first + sender, rows_, rows_ * m_.active_experts);
      routes.emplace_back();
      for (int rank = 0; rank < ranks; ++rank) {
        const auto begin = counts.begin() + rank * each;
        routes.back().push_back(std::accumulate(begin, begin + each, std::int64_t{0}));
        received[static_cast<std::size_t>(rank)] += routes.back().back();
      }
    }
    step_.imbalance = std::max(step_.imbalance, imbalance(received));
    return routes;
  }
  void route(std::string_view what, const Routes& rows) {
    if (rows.size() == 1) return;
    TrafficOp& op = add(TrafficKind::all_to_all, TrafficGroup::expert, what, 0);
    const auto own = static_cast<std::size_t>(rank(TrafficGroup::expert));
    for (std::size_t other = 0; other < rows.size(); ++other) {
      const auto to_others = rows[other].begin();
      op.to.push_back(rows[own][other] * m_.width);
      op.from.push_back(rows[other][own] * m_.width);
      op.from_first.push_back(
          std::accumulate(to_others, to_others + rank(TrafficGroup::expert), std::int64_t{0}) *
          m_.width);
    }
  }
  /// Rows to the experts, their GEMMs, and rows back; backward the same with gradients.
  void experts(std::int64_t layer, const Tensors& tensors) {
    const bool back = pass_ == TrafficPass::backward;
    const Routes out = routes(layer);
    Routes home = out;
    for (std::size_t from = 0; from < out.size(); ++from)
      for (std::size_t to = 0; to < out.size(); ++to) home[to][from] = out[from][to];
    const auto& own = home[static_cast<std::size_t>(rank(TrafficGroup::expert))];
    const std::int64_t rows = std::accumulate(own.begin(), own.end(), std::int64_t{0});
    const std::int64_t hidden = m_.expert_hidden / s_.split.tensor;
    route("rows to experts", out);
    for (const TrafficTensor& tensor : tensors)
      if (back)
        gather_again(tensor, true);
      else
        gather_shard(tensor, true);
    compute("experts", rows, (m_.gated ? 2 : 1) * hidden, m_.width);
    compute("experts", rows, m_.width, hidden);
    if (back)
      for (const TrafficTensor& tensor : tensors) scatter_shard(tensor, true);
    route("rows from experts", home);
  }

  // Passes.

  void forward() {
    if (is_first_) {
      for (const TrafficTensor& tensor : embedding_tensors(m_, by_)) gather_shard(tensor, false);
      leave_divided("embedding rows");
    } else {
      message(TrafficKind::receive, TrafficGroup::pipeline, "activations",
              residual_rows_ * m_.width, place_.stage - 1);
    }
    for (std::int64_t layer = first_layer_; layer < last_layer_; ++layer) {
      attention_block();
      feed_forward_block(layer);
    }
    if (!is_last_)
      return message(TrafficKind::send, TrafficGroup::pipeline, "activations",
                     residual_rows_ * m_.width, place_.stage + 1);
    const Tensors tensors = head_tensors(m_, by_);
    for (std::size_t i = 0; i < norms_; ++i) gather_shard(tensors[i], false);
    enter_divided();
    for (std::size_t i = norms_; i < tensors.size(); ++i) gather_shard(tensors[i], false);
    compute("head", rows_, by_.tokens, m_.width);
    exchange(TrafficKind::gather, TrafficGroup::tensor, "logit statistics", logit_statistics());
  }

  void backward() {
    if (is_last_) {
      const Tensors tensors = head_tensors(m_, by_);
      for (std::size_t i = norms_; i < tensors.size(); ++i) gather_again(tensors[i], false);
      compute("backward", rows_, by_.tokens, m_.width);
      for (std::size_t i = norms_; i < tensors.size(); ++i) scatter_shard(tensors[i], false);
      enter_divided_backward("head input gradient");
      norm_backward(tensors);
      finish(tensors);
    } else {
      message(TrafficKind::receive, TrafficGroup::pipeline, "gradients", residual_rows_ * m_.width,
              place_.stage + 1);
    }
    for (std::int64_t layer = last_layer_; layer-- > first_layer_;) {
      feed_forward_block_backward(layer);
      attention_block_backward();
    }
    if (!is_first_)
      return message(TrafficKind::send, TrafficGroup::pipeline, "gradients",
                     residual_rows_ * m_.width, place_.stage - 1);
    leave_divided_backward();
    Tensors tensors = embedding_tensors(m_, by_);
    std::ranges::reverse(tensors);
    for (const TrafficTensor& tensor : tensors) scatter_shard(tensor, false);
    finish(tensors);
  }

  // Gradients of dense parameters and of experts, each in a row, the last layer's first.

  struct GradientRow {
    TrafficGroup group = TrafficGroup::data;
    std::int64_t elements = 0;  // of all tensors, each aligned
    std::int64_t finished = 0;  // in the last micro-batch
    std::vector<training::BlockRange> buckets = {};
    std::size_t exchanged = 0;  // buckets
  };

  void make_gradient_rows() {
    std::int64_t experts = 0;
    const auto sum = [&](const Tensors& tensors) {
      std::int64_t elements = 0;
      for (const TrafficTensor& tensor : tensors)
        elements += aligned_elements(tensor.elements, s_.dtype);
      return elements;
    };
    if (is_first_) dense_.elements += sum(embedding_tensors(m_, by_));
    for (std::int64_t layer = first_layer_; layer < last_layer_; ++layer) {
      dense_.elements +=
          sum(attention_tensors(m_, by_)) + sum(feed_forward_tensors(m_, layer, by_));
      experts += sum(expert_tensors(m_, layer, by_));
    }
    if (is_last_) dense_.elements += sum(head_tensors(m_, by_));
    expert_ = {TrafficGroup::expert_data, experts};
    for (GradientRow* row : {&dense_, &expert_}) {
      const std::int64_t blocks = (row->elements + training::kBlock - 1) / training::kBlock;
      const std::int64_t block_bytes =
          training::kBlock * static_cast<std::int64_t>(size_of(s_.dtype));
      const std::int64_t ranks = size(row->group);
      const std::int64_t each =
          std::max<std::int64_t>(1, s_.bucket_bytes / (block_bytes * ranks)) * ranks;
      if (static_cast<std::size_t>(blocks / each) > kMostOperations) refuse_operations();
      for (std::int64_t first = 0; first < blocks; first += each)
        row->buckets.push_back({first, std::min(first + each, blocks)});
    }
  }

  /// Gradients of these are final if this is the last micro-batch: their buckets may be exchanged.
  void finish(const Tensors& tensors) {
    if (!step_.overlaps || micro_batch_ + 1 < s_.micro_batches) return;
    for (const TrafficTensor& tensor : tensors)
      dense_.finished += aligned_elements(tensor.elements, s_.dtype);
    int ready = static_cast<int>(step_.ops.size()) - 1;
    while (ready >= 0 && step_.ops[static_cast<std::size_t>(ready)].kind != TrafficKind::compute)
      --ready;
    while (dense_.exchanged < dense_.buckets.size() &&
           std::min(dense_.buckets[dense_.exchanged].last * training::kBlock, dense_.elements) <=
               dense_.finished)
      exchange_bucket(dense_, ready);
  }

  std::int64_t elements_of(const GradientRow& row, training::BlockRange bucket) const {
    return std::min(bucket.last * training::kBlock, row.elements) - bucket.first * training::kBlock;
  }
  /// As training/parallel/bucket_exchange.h: equal parts of whole blocks for each rank.
  void exchange_bucket(GradientRow& row, int ready) {
    const training::BlockRange bucket = row.buckets[row.exchanged++];
    const std::int64_t own = elements_of(row, bucket);
    if (s_.split.zero == 1)
      exchange(TrafficKind::scatter_sum, row.group, "gradients", share_of(row, bucket));
    else
      exchange(TrafficKind::sum, row.group, "gradients",
               s_.sums_by_library ? own : share_of(row, bucket) * size(row.group));
    if (!s_.sums_by_library || s_.split.zero == 1) pad(row, bucket);
    step_.ops.back().ready = ready;
  }
  std::int64_t share_of(const GradientRow& row, training::BlockRange bucket) const {
    return training::shard_blocks(bucket, size(row.group)) * training::kBlock;
  }
  void pad(const GradientRow& row, training::BlockRange bucket) {
    const std::int64_t own = elements_of(row, bucket);
    if (own < share_of(row, bucket) * size(row.group)) step_.ops.back().row = own;
  }

  void exchange_gradients() {
    if (shards_) return;
    for (GradientRow* row : {&dense_, &expert_})
      while (size(row->group) > 1 && row->exchanged < row->buckets.size())
        exchange_bucket(*row, -1);
  }

  /// Ranks agree on the loss and on the norm of gradients, update, and gather what ZeRO-1 divides.
  void update() {
    const std::int64_t ranks = place_.ranks;
    exchange(TrafficKind::control, TrafficGroup::all, "loss", 3 * ranks);
    if (s_.split.ranks_of_copy() > 1 || s_.split.expert > 1 || shards_)
      exchange(TrafficKind::control, TrafficGroup::all, "gradient norm", ranks);
    else if (s_.split.zero == 1)
      exchange(TrafficKind::control, TrafficGroup::all, "gradient norm",
               (dense_.elements + training::kBlock - 1) / training::kBlock);
    add(TrafficKind::compute, TrafficGroup::all, "update", 0);
    if (s_.split.zero != 1) return;
    for (const GradientRow* row : {&dense_, &expert_})
      for (const training::BlockRange& bucket : row->buckets) {
        if (size(row->group) == 1) continue;
        exchange(TrafficKind::gather, row->group, "parameters", share_of(*row, bucket));
        pad(*row, bucket);
      }
  }

  /// Consecutive numbers, the same for all micro-batches.
  void number_slots() {
    std::vector<int> known;
    for (const TrafficOp& op : step_.ops)
      if (op.slot >= 0) known.push_back(op.slot);
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (TrafficOp& op : step_.ops)
      if (op.slot >= 0)
        op.slot = static_cast<int>(std::ranges::lower_bound(known, op.slot) - known.begin());
    step_.slots = static_cast<int>(known.size());
  }

  const StepSettings& s_;
  const TrafficModel& m_;
  const TrafficPlace place_;
  const TensorDivision by_;
  const std::size_t norms_;                        // tensors of a norm, and of a linear layer
  const std::int64_t query_columns_, kv_columns_;  // of this tensor rank
  const std::int64_t rows_;
  const bool divides_rows_;
  const std::int64_t residual_rows_;
  const bool shards_;
  std::int64_t first_layer_ = 0, last_layer_ = 0;
  bool is_first_ = true, is_last_ = true;
  std::vector<training::StagePass> passes_ = {};
  GradientRow dense_ = {}, expert_ = {};
  TrafficPass pass_ = TrafficPass::forward;
  std::int64_t micro_batch_ = 0;
  int slot_ = 0;
  std::size_t operations_ = 0;  // and GEMMs
  StepSchedule step_ = {};
};

}  // namespace

double TrafficOp::flops() const {
  double sum = 0.0;
  for (const GemmCalls& gemm : gemms) sum += gemm.flops();
  return sum;
}

std::int64_t TrafficOp::payload(int group_size) const {
  switch (kind) {
    case TrafficKind::compute:
    case TrafficKind::control:
    case TrafficKind::receive:
      return 0;
    case TrafficKind::sum:
    case TrafficKind::send:
      return elements;
    case TrafficKind::gather:
    case TrafficKind::scatter_sum:
      return elements * group_size;
    case TrafficKind::all_to_all:
      return std::accumulate(to.begin(), to.end(), std::int64_t{0});
  }
  return 0;
}

bool StepSchedule::uses(TrafficGroup group) const {
  return std::ranges::any_of(ops, [&](const TrafficOp& op) {
    return op.kind != TrafficKind::compute && op.kind != TrafficKind::control && op.group == group;
  });
}

double StepSchedule::flops(TrafficPass pass) const {
  double sum = 0.0;
  for (const TrafficOp& op : ops)
    if (op.pass == pass) sum += op.flops();
  return sum;
}

std::int64_t StepSchedule::payload(TrafficGroup group, int group_size) const {
  std::int64_t sum = 0;
  for (const TrafficOp& op : ops)
    if (op.group == group) sum += op.payload(group_size);
  return sum;
}

StepSchedule make_step_schedule(const StepSettings& settings, const TrafficPlace& place) {
  settings.check();
  return StepBuilder(settings, place).build();
}

}  // namespace bench
