#include "training/operators/ring_attention.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// A rank's rows: of each sample two chunks, one after the other. A tensor "by chunks" has a chunk
/// of all samples, then the next one.
struct RingLayout {
  AttentionShape whole;
  ContextPart part;
  std::int64_t samples = 0;

  std::int64_t length() const { return whole.sequence / part.chunks(); }
  std::int64_t rows() const { return samples * length(); }  // of one chunk
  std::int64_t query_columns() const { return whole.output_columns(); }
  std::int64_t key_value_columns() const { return 2 * whole.kv_heads * whole.head_dim; }
  std::int64_t shifted_columns() const { return whole.shifted_kv_heads * whole.head_dim; }
  /// Attention of one chunk to one chunk. Keys are shifted before.
  AttentionShape of_chunks(bool causal) const {
    return {length(), whole.heads, whole.kv_heads, whole.head_dim, causal, 0};
  }
};

/// Copies columns of some rows of a chunk between a rank's rows and a tensor that has only them.
class ChunkCopy {
 public:
  ChunkCopy(const RingLayout& layout, const KernelSet& kernels)
      : layout_(layout), kernels_(*kernels.detection) {}

  struct Rows {
    std::int64_t first = 0, count = 0;
  };
  /// Columns from `first` on of `some` rows of chunk `which`, to those of `chunk` from `at` and
  /// `chunk_row` on; without rows, of all.
  void from_rows(View rows, int which, std::int64_t first, View chunk, std::int64_t at,
                 std::int64_t columns) const {
    from_rows(rows, which, {0, layout_.length()}, first, chunk, at, columns, 0);
  }
  void from_rows(View rows, int which, Rows some, std::int64_t first, View chunk, std::int64_t at,
                 std::int64_t columns, std::int64_t chunk_row) const {
    BlockCopy copy = shape_of(some, columns);
    copy.from_first = begin(rows, which, some.first) + first;
    copy.from_block = 2 * layout_.length() * rows.columns;
    copy.from_row = rows.columns;
    copy.to_first = chunk_row * chunk.columns + at;
    copy.to_block = chunk.rows / layout_.samples * chunk.columns;
    copy.to_row = chunk.columns;
    kernels_.copy_blocks(copy, rows, chunk, false);
  }
  void to_rows(View chunk, std::int64_t at, View rows, int which, std::int64_t first,
               std::int64_t columns, bool add) const {
    to_rows(chunk, at, 0, rows, which, {0, layout_.length()}, first, columns, add);
  }
  void to_rows(View chunk, std::int64_t at, std::int64_t chunk_row, View rows, int which, Rows some,
               std::int64_t first, std::int64_t columns, bool add) const {
    BlockCopy copy = shape_of(some, columns);
    copy.from_first = chunk_row * chunk.columns + at;
    copy.from_block = chunk.rows / layout_.samples * chunk.columns;
    copy.from_row = chunk.columns;
    copy.to_first = begin(rows, which, some.first) + first;
    copy.to_block = 2 * layout_.length() * rows.columns;
    copy.to_row = rows.columns;
    kernels_.copy_blocks(copy, chunk, rows, add);
  }
  /// Between tensors of all rows of one chunk.
  void between(View from, std::int64_t first, View to, std::int64_t at, std::int64_t columns,
               bool add) const {
    BlockCopy copy{1, from.rows, columns, first, 0, from.columns, at, 0, to.columns};
    kernels_.copy_blocks(copy, from, to, add);
  }

 private:
  BlockCopy shape_of(Rows some, std::int64_t columns) const {
    BlockCopy copy;
    copy.blocks = layout_.samples;
    copy.rows = some.count;
    copy.columns = columns;
    return copy;
  }
  std::int64_t begin(View rows, int which, std::int64_t row) const {
    return (which * layout_.length() + row) * rows.columns;
  }

  const RingLayout& layout_;
  DetectionKernels& kernels_;
};

/// Tensors of the operator's workspace, one after the other.
class Workspace {
 public:
  Workspace(View all, Dtype compute) : all_(all), compute_(compute) {}
  /// In the compute type; an element takes as much memory as a statistic.
  View tensor(std::int64_t rows, std::int64_t columns) { return take(rows, columns, compute_); }
  View statistic(std::int64_t rows, std::int64_t columns) {
    return take(rows, columns, all_.dtype);
  }

 private:
  View take(std::int64_t rows, std::int64_t columns, Dtype dtype) {
    const std::int64_t begin = used_;
    used_ += rows * columns;
    require(used_ <= all_.elements(), "ring_attention", "the workspace is too small");
    const auto bytes = begin * static_cast<std::int64_t>(size_of(all_.dtype));
    return {all_.as<std::byte>() + bytes, rows, columns, dtype};
  }

  View all_;
  Dtype compute_;
  std::int64_t used_ = 0;
};

/// One pass of one operator: what both passes share.
class Ring {
 public:
  Ring(const RingLayout& layout, const Frame& f, Workspace& space)
      : layout_(layout),
        f_(f),
        ranks_(*f.kernels->context),
        copy_(layout, *f.kernels),
        key_values_(space.tensor(2 * layout.rows(), layout.key_value_columns())),
        packed_{space.tensor(layout.rows(), layout.whole.packed_columns()),
                space.tensor(layout.rows(), layout.whole.packed_columns())},
        edges_{space.tensor(layout.samples, layout.shifted_columns()),
               space.tensor(layout.samples, layout.shifted_columns())} {
    for (int which = 0; which < 2; ++which)
      copy_.from_rows(f.inputs[0], which, 0, packed(which), 0, layout_.query_columns());
    load_keys();
  }
  static std::int64_t workspace(const RingLayout& layout) {
    return 2 * layout.rows() * (layout.key_value_columns() + layout.whole.packed_columns()) +
           2 * layout.samples * layout.shifted_columns();
  }

  const ChunkCopy& copy() const { return copy_; }
  /// Keys and values of the rank that has them now, by chunks.
  View key_values() const { return key_values_; }
  /// This rank's queries of a chunk, with keys and values of another.
  View packed(int which) const { return packed_[static_cast<std::size_t>(which)]; }
  View chunk_of(View by_chunks, int which) const {
    return rows_of(by_chunks, which * layout_.rows(), layout_.rows());
  }

  /// visit(which, other, causal) for every pair of an own chunk of queries and a chunk of the keys
  /// of `source` that it sees, packed together.
  template <class Visit>
  void for_each_pair(int source, const Visit& visit) const {
    const auto own = layout_.part.own_chunks(), others = layout_.part.chunks_of(source);
    for (int which = 0; which < 2; ++which)
      for (int other = 0; other < 2; ++other) {
        const int queries = own.at(static_cast<std::size_t>(which));
        const int keys = others.at(static_cast<std::size_t>(other));
        if (layout_.whole.causal && keys > queries) continue;
        copy_.between(chunk_of(key_values_, other), 0, packed(which), layout_.query_columns(),
                      layout_.key_value_columns(), false);
        visit(which, other, layout_.whole.causal && keys == queries);
      }
  }

  int source(int step) const {
    const int ranks = layout_.part.ranks;
    return (layout_.part.rank - step + ranks) % ranks;
  }
  bool is_last(int step) const { return step + 1 == layout_.part.ranks; }
  void send(View x) const { ranks_.send(x, (layout_.part.rank + 1) % layout_.part.ranks); }
  void receive(View x) const {
    ranks_.receive(x, (layout_.part.rank + layout_.part.ranks - 1) % layout_.part.ranks);
  }

  /// Adds the gradients of this rank's keys and values to those of its rows, or writes them.
  void put_key_gradients(View gradients) {
    const View rows = f_.input_gradients[0];
    const std::int64_t shifted = layout_.shifted_columns(), at = layout_.query_columns();
    const std::int64_t last = layout_.length() - 1;
    for (int which = 0; which < 2; ++which)
      copy_.to_rows(chunk_of(gradients, which), shifted, rows, which, at + shifted,
                    layout_.key_value_columns() - shifted, f_.adds(0));
    if (shifted == 0) return;
    // Row i of shifted keys is the key of row i - 1.
    for (int which = 0; which < 2; ++which)
      copy_.to_rows(chunk_of(gradients, which), 0, 1, rows, which, {0, last}, at, shifted,
                    f_.adds(0));
    for (int which = 0; which < 2; ++which)
      copy_.between(first_rows(chunk_of(gradients, which)), 0, edge(which), 0, shifted, false);
    pass_edges(-1);
    for (int which = 0; which < 2; ++which)
      copy_.to_rows(edge(which), 0, 0, rows, which, {last, 1}, at, shifted, f_.adds(0));
  }

 private:
  View edge(int which) const { return edges_[static_cast<std::size_t>(which)]; }
  /// The first row of every sample of a chunk, as one tensor with the rows of a sample in a row.
  View first_rows(View chunk) const {
    return {chunk.data, layout_.samples, layout_.length() * chunk.columns, chunk.dtype};
  }

  /// This rank's keys and values, by chunks; row i of the shifted heads becomes the key before.
  void load_keys() {
    const View rows = f_.inputs[0];
    const std::int64_t shifted = layout_.shifted_columns(), at = layout_.query_columns();
    const std::int64_t last = layout_.length() - 1;
    for (int which = 0; which < 2; ++which)
      copy_.from_rows(rows, which, at + shifted, chunk_of(key_values_, which), shifted,
                      layout_.key_value_columns() - shifted);
    if (shifted == 0) return;
    for (int which = 0; which < 2; ++which) {
      copy_.from_rows(rows, which, {0, last}, at, chunk_of(key_values_, which), 0, shifted, 1);
      copy_.from_rows(rows, which, {last, 1}, at, edge(which), 0, shifted, 0);
    }
    pass_edges(1);
    for (int which = 0; which < 2; ++which)
      copy_.between(edge(which), 0, first_rows(chunk_of(key_values_, which)), 0, shifted, false);
  }

  /// The edge of each chunk becomes that of the chunk before (way 1) or after it (-1), and zeros
  /// where there is none.
  void pass_edges(int way) {
    const ContextPart& part = layout_.part;
    const auto own = part.own_chunks();
    // Of this rank's own pair of neighbours: the middle of a sequence lies on its last rank.
    const bool meet = part.owner(own[0] + 1) == part.rank;
    for (int which = 0; which < 2; ++which) {
      const int to = own.at(static_cast<std::size_t>(which)) + way;
      if (part.is_elsewhere(to)) ranks_.send(edge(which), part.owner(to));
    }
    const int giver = way > 0 ? 0 : 1;
    if (meet) copy_.between(edge(giver), 0, edge(1 - giver), 0, edge(giver).columns, false);
    for (int which = 0; which < 2; ++which) {
      const int from = own.at(static_cast<std::size_t>(which)) - way;
      if (!part.has_chunk(from))
        std::memset(edge(which).data, 0, bytes_of(edge(which)).size());
      else if (part.is_elsewhere(from))
        ranks_.receive(edge(which), part.owner(from));
    }
  }

  const RingLayout& layout_;
  const Frame& f_;
  RankKernels& ranks_;
  ChunkCopy copy_;
  View key_values_;
  std::array<View, 2> packed_, edges_;
};

class RingAttention final : public Operator {
 public:
  explicit RingAttention(const RingLayout& layout) : layout_(layout) {}

  std::string_view name() const override { return "ring_attention"; }
  bool backward_reads_output() const override { return true; }
  /// By chunks.
  std::vector<Saved> saved() const override {
    return {{{2 * layout_.rows(), layout_.whole.heads}}};
  }
  std::int64_t largest_message() const override {
    return 2 * layout_.rows() * layout_.key_value_columns();
  }
  std::int64_t forward_workspace() const override {
    return Ring::workspace(layout_) + 3 * chunk_elements() + chunk_statistics();
  }
  std::int64_t backward_workspace() const override {
    return Ring::workspace(layout_) + 2 * layout_.rows() * layout_.key_value_columns() +
           layout_.rows() * layout_.whole.packed_columns() + 4 * chunk_elements() +
           chunk_statistics();
  }
  double flops() const override {
    return (layout_.whole.causal ? 2.0 : 4.0) * 2.0 * static_cast<double>(layout_.rows()) *
           static_cast<double>(layout_.whole.sequence) *
           static_cast<double>(layout_.whole.output_columns());
  }
  double repeated_flops() const override { return 0.5 * flops(); }  // Q K^T

  void forward(const Frame& f) const override;
  void backward(const Frame& f) const override;

 private:
  std::int64_t chunk_elements() const { return layout_.rows() * layout_.query_columns(); }
  std::int64_t chunk_statistics() const { return layout_.rows() * layout_.whole.heads; }

  RingLayout layout_;
};

void RingAttention::forward(const Frame& f) const {
  require(f.kernels->context != nullptr, "ring_attention", "the kernels reach no other ranks");
  Workspace space(f.workspace, f.output.dtype);
  Ring ring(layout_, f, space);
  const View sums = space.tensor(2 * layout_.rows(), layout_.query_columns());
  const AttentionPart part{space.tensor(layout_.rows(), layout_.query_columns()),
                           space.statistic(layout_.rows(), layout_.whole.heads)};
  AttentionKernels& kernels = *f.kernels->attention;
  std::array<bool, 2> begun = {};
  for (int step = 0; step < layout_.part.ranks; ++step) {
    if (!ring.is_last(step)) ring.send(ring.key_values());
    ring.for_each_pair(ring.source(step), [&](int which, int, bool causal) {
      const AttentionShape shape = layout_.of_chunks(causal);
      const AttentionPart sum{ring.chunk_of(sums, which), ring.chunk_of(f.saved[0], which)};
      bool& joins = begun.at(static_cast<std::size_t>(which));
      const AttentionPart& to = joins ? part : sum;
      kernels.forward(shape, ring.packed(which), to.output, to.log_sum);
      if (joins) kernels.join(shape, part, sum);
      joins = true;
    });
    if (!ring.is_last(step)) ring.receive(ring.key_values());
  }
  for (int which = 0; which < 2; ++which)
    ring.copy().to_rows(ring.chunk_of(sums, which), 0, f.output, which, 0, layout_.query_columns(),
                        false);
}

void RingAttention::backward(const Frame& f) const {
  if (!f.input_gradients[0]) return;
  Workspace space(f.workspace, f.output.dtype);
  Ring ring(layout_, f, space);
  const View gradients = space.tensor(2 * layout_.rows(), layout_.key_value_columns());
  const View made = space.tensor(layout_.rows(), layout_.whole.packed_columns());
  const auto by_chunks = [&](View rows) {
    std::array<View, 2> chunks;
    for (int which = 0; which < 2; ++which) {
      const View chunk = space.tensor(layout_.rows(), rows.columns);
      ring.copy().from_rows(rows, which, 0, chunk, 0, rows.columns);
      chunks.at(static_cast<std::size_t>(which)) = chunk;
    }
    return chunks;
  };
  const auto outputs = by_chunks(f.output), output_gradients = by_chunks(f.output_gradient);
  const View row_sums = space.statistic(layout_.rows(), layout_.whole.heads);
  std::array<bool, 2> has_queries = {}, has_keys = {};
  for (int step = 0; step < layout_.part.ranks; ++step) {
    if (!ring.is_last(step)) ring.send(ring.key_values());
    ring.for_each_pair(ring.source(step), [&](int which, int other, bool causal) {
      const auto chunk = static_cast<std::size_t>(which);
      f.kernels->attention->backward(
          layout_.of_chunks(causal),
          {ring.packed(which), outputs.at(chunk), output_gradients.at(chunk),
           ring.chunk_of(f.saved[0], which), row_sums, made, false});
      ring.copy().to_rows(made, 0, f.input_gradients[0], which, 0, layout_.query_columns(),
                          f.adds(0) || has_queries.at(chunk));
      has_queries.at(chunk) = true;
      bool& adds = has_keys.at(static_cast<std::size_t>(other));
      ring.copy().between(made, layout_.query_columns(), ring.chunk_of(gradients, other), 0,
                          layout_.key_value_columns(), adds);
      adds = true;
    });
    has_keys = {true, true};  // the first step has made both of this rank's own
    if (!ring.is_last(step)) ring.receive(ring.key_values());
    ring.send(gradients);
    ring.receive(gradients);
  }
  ring.put_key_gradients(gradients);
}

}  // namespace

Var ring_attention(Var packed, const AttentionShape& shape, const ContextPart& part) {
  check_heads(shape, "ring_attention");
  require(shape.sequence > 0 && shape.sequence % part.chunks() == 0, "ring_attention",
          "a sequence of " + std::to_string(shape.sequence) + " over " +
              std::to_string(part.ranks) + " ranks");
  const std::int64_t tokens = part.tokens(shape.sequence);
  require(packed.shape().columns() == shape.packed_columns() && packed.shape().rows() % tokens == 0,
          "ring_attention",
          packed.shape().text() + " does not match packed rows of " +
              std::to_string(shape.packed_columns()) + " in parts of " + std::to_string(tokens));
  const RingLayout layout{shape, part, packed.shape().rows() / tokens};
  return packed.graph->apply(std::make_unique<RingAttention>(layout), {packed},
                             {packed.shape().rows(), shape.output_columns()});
}

}  // namespace bench::training
