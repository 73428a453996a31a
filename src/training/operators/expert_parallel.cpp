#include "training/operators/expert_parallel.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "training/operators/experts.h"

namespace bench::training {
namespace {

RankKernels& expert_ranks(const Frame& f) {
  require(f.kernels->expert_ranks != nullptr && f.kernels->memory->on_host(), "divided_experts",
          "the kernels reach no other ranks");
  require(!is_narrow(f.inputs[0].dtype), "divided_experts", "rows are in 16 bits");
  return *f.kernels->expert_ranks;
}

std::byte* row_of(View x, std::int64_t row) {
  return x.as<std::byte>() + row * x.columns * static_cast<std::int64_t>(size_of(x.dtype));
}

View row_range(View x, std::int64_t first, std::int64_t count) {
  return {row_of(x, first), count, x.columns, x.dtype};
}

/// Copies columns from one tensor to another with as many rows.
void copy_columns(const KernelSet& kernels, View from, std::int64_t first, View to, std::int64_t at,
                  std::int64_t columns) {
  const BlockCopy copy{1, from.rows, columns, first, 0, from.columns, at, 0, to.columns};
  kernels.detection->copy_blocks(copy, from, to, false);
}

/// Who has which experts and whose tokens. The rows that a rank has of other ranks' tokens are by
/// rank: row i of rank r is row r x rows + i, whether it chose an expert here or not.
struct ExpertRows {
  std::int64_t rows = 0;  // of each rank's tokens
  std::int64_t experts = 0;
  int ranks = 1;

  std::int64_t own() const { return experts / ranks; }
  std::int64_t all() const { return rows * ranks; }
};

/// Of one rank's experts.
ExpertSlots slots_of(const ExpertRows& layout, const Routing& routing) {
  std::int64_t most = layout.all() * std::min(routing.top, layout.own());
  if (routing.capacity > 0)
    most = std::min(most, layout.all() / routing.sequence * routing.capacity * layout.own());
  return {most, layout.rows * routing.top};
}

/// Calls meet(to, from) for every other rank: the one to send to, then the one to receive from, so
/// that no rank has many messages under way.
template <class Meet>
void meet_others(int own, int ranks, const Meet& meet) {
  for (int step = 1; step < ranks; ++step) meet((own + step) % ranks, (own + ranks - step) % ranks);
}

bool is_zero(View row) {
  const std::byte* at = row.as<std::byte>();
  return std::all_of(at, at + row.columns * static_cast<std::int64_t>(size_of(row.dtype)),
                     [](std::byte byte) { return byte == std::byte{}; });
}

/// Exchanges the rows of tokens with the ranks whose experts they chose. Only these rows are sent,
/// in a message that may be empty: ranks that disagree about them find another size than expected,
/// where none would let both wait.
class RowExchange {
 public:
  /// Gates [rows, experts] of this rank's tokens, and [all rows, own experts] of its experts.
  RowExchange(const ExpertRows& layout, const Frame& f, View gates, View gates_of_own)
      : layout_(layout),
        ranks_(expert_ranks(f)),
        elementwise_(*f.kernels->elementwise),
        gates_(gates),
        gates_of_own_(gates_of_own),
        workspace_(f.workspace) {}

  /// Rows [rows, columns] of tokens to [all rows, columns] of experts. Rows that chose no expert
  /// here are left as they are.
  void to_experts(View from, View to) const {
    const int own = ranks_.rank();
    const View packed = packed_rows(from.columns, from.dtype);
    meet_others(own, layout_.ranks, [&](int receiver, int sender) {
      std::int64_t count = 0;
      each_row_for(receiver, [&](std::int64_t row) { copy_row(from, row, packed, count++); });
      ranks_.send(row_range(packed, 0, count), receiver);
      receive_rows(
          sender, packed, [&](const auto& visit) { each_row_of(sender, visit); },
          [&](std::int64_t at, std::int64_t row) { copy_row(packed, at, to, row); });
    });
    each_row_for(own, [&](std::int64_t row) { copy_row(from, row, to, own * layout_.rows + row); });
  }

  /// Rows [rows, columns] of tokens become, or have added, the sum of their rows [all rows,
  /// columns] at all ranks.
  void from_experts(View from, View to, bool add) const {
    const int own = ranks_.rank();
    const View packed = packed_rows(from.columns, from.dtype);
    if (!add) std::memset(to.data, 0, static_cast<std::size_t>(to.elements()) * size_of(to.dtype));
    each_row_for(own, [&](std::int64_t row) { add_row(from, own * layout_.rows + row, to, row); });
    meet_others(own, layout_.ranks, [&](int receiver, int sender) {
      std::int64_t count = 0;
      each_row_of(receiver, [&](std::int64_t row) { copy_row(from, row, packed, count++); });
      ranks_.send(row_range(packed, 0, count), receiver);
      receive_rows(
          sender, packed, [&](const auto& visit) { each_row_for(sender, visit); },
          [&](std::int64_t at, std::int64_t row) { add_row(packed, at, to, row); });
    });
  }

 private:
  /// visit(row) for each of this rank's tokens that chose an expert of that rank.
  template <class Visit>
  void each_row_for(int rank, const Visit& visit) const {
    const std::int64_t own = layout_.own();
    const auto size = static_cast<std::int64_t>(size_of(gates_.dtype));
    for (std::int64_t row = 0; row < layout_.rows; ++row)
      if (!is_zero({row_of(gates_, row) + rank * own * size, 1, own, gates_.dtype})) visit(row);
  }
  /// visit(row of all) for each of that rank's tokens that chose an expert of this one.
  template <class Visit>
  void each_row_of(int rank, const Visit& visit) const {
    const std::int64_t end = (rank + 1) * layout_.rows;
    for (std::int64_t row = rank * layout_.rows; row < end; ++row)
      if (!is_zero(row_range(gates_of_own_, row, 1))) visit(row);
  }
  /// place(i, row) for row i of a message with these rows.
  template <class Rows, class Place>
  void receive_rows(int rank, View packed, const Rows& rows, const Place& place) const {
    std::int64_t count = 0;
    rows([&](std::int64_t) { ++count; });
    ranks_.receive(row_range(packed, 0, count), rank);
    count = 0;
    rows([&](std::int64_t row) { place(count++, row); });
  }

  View packed_rows(std::int64_t columns, Dtype dtype) const {
    return {workspace_.data, layout_.rows, columns, dtype};
  }
  void copy_row(View from, std::int64_t at, View to, std::int64_t row) const {
    elementwise_.copy(row_range(from, at, 1), row_range(to, row, 1), false);
  }
  void add_row(View from, std::int64_t at, View to, std::int64_t row) const {
    elementwise_.copy(row_range(from, at, 1), row_range(to, row, 1), true);
  }

  ExpertRows layout_;
  RankKernels& ranks_;
  ElementwiseKernels& elementwise_;
  View gates_, gates_of_own_, workspace_;
};

/// Gates [rows, experts] of this rank's tokens -> [all rows, own experts].
class GatesOfOwnExperts final : public Operator {
 public:
  explicit GatesOfOwnExperts(const ExpertRows& layout) : layout_(layout) {}
  std::string_view name() const override { return "gates_of_own_experts"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  std::int64_t forward_workspace() const override { return layout_.rows * layout_.own(); }
  std::int64_t backward_workspace() const override { return forward_workspace(); }
  std::int64_t largest_message() const override { return forward_workspace(); }

  void forward(const Frame& f) const override {
    RankKernels& ranks = expert_ranks(f);
    const View packed = block_in(f);
    const std::int64_t own = layout_.own();
    meet_others(ranks.rank(), layout_.ranks, [&](int receiver, int sender) {
      copy_columns(*f.kernels, f.inputs[0], receiver * own, packed, 0, own);
      ranks.send(packed, receiver);
      ranks.receive(block_of(f.output, sender), sender);
    });
    copy_columns(*f.kernels, f.inputs[0], ranks.rank() * own, block_of(f.output, ranks.rank()), 0,
                 own);
  }

  void backward(const Frame& f) const override {
    const View to = f.input_gradients[0];
    if (!to) return;
    require(!f.adds(0), "gates_of_own_experts", "something else uses the gates");
    RankKernels& ranks = expert_ranks(f);
    const View packed = block_in(f);
    const std::int64_t own = layout_.own();
    meet_others(ranks.rank(), layout_.ranks, [&](int receiver, int sender) {
      ranks.send(block_of(f.output_gradient, receiver), receiver);
      ranks.receive(packed, sender);
      copy_columns(*f.kernels, packed, 0, to, sender * own, own);
    });
    copy_columns(*f.kernels, block_of(f.output_gradient, ranks.rank()), 0, to, ranks.rank() * own,
                 own);
  }

 private:
  View block_in(const Frame& f) const {
    const Dtype dtype = f.inputs[0].dtype;
    return {f.workspace.data, layout_.rows, layout_.own(), dtype};
  }
  View block_of(View all, int rank) const {
    return row_range(all, rank * layout_.rows, layout_.rows);
  }

  ExpertRows layout_;
};

/// Of x [rows, columns] or [all rows, columns], gates and gates_of_own_experts.
class ExchangesRows : public Operator {
 public:
  ExchangesRows(const ExpertRows& layout, std::int64_t columns)
      : layout_(layout), columns_(columns) {}
  bool backward_reads_input(std::size_t input) const override { return input != 0; }
  bool has_gradient(std::size_t input) const override { return input == 0; }
  std::int64_t forward_workspace() const override { return layout_.rows * columns_; }
  std::int64_t backward_workspace() const override { return forward_workspace(); }
  std::int64_t largest_message() const override { return forward_workspace(); }

 protected:
  RowExchange exchange(const Frame& f) const { return {layout_, f, f.inputs[1], f.inputs[2]}; }

 private:
  ExpertRows layout_;
  std::int64_t columns_;
};

/// Rows of tokens -> rows of experts.
class RowsToExperts final : public ExchangesRows {
 public:
  using ExchangesRows::ExchangesRows;
  std::string_view name() const override { return "rows_to_experts"; }
  void forward(const Frame& f) const override { exchange(f).to_experts(f.inputs[0], f.output); }
  void backward(const Frame& f) const override {
    if (f.input_gradients[0])
      exchange(f).from_experts(f.output_gradient, f.input_gradients[0], f.adds(0));
  }
};

/// Rows of experts -> sums of the rows of each token.
class RowsFromExperts final : public ExchangesRows {
 public:
  using ExchangesRows::ExchangesRows;
  std::string_view name() const override { return "rows_from_experts"; }
  void forward(const Frame& f) const override {
    exchange(f).from_experts(f.inputs[0], f.output, false);
  }
  void backward(const Frame& f) const override {
    if (!f.input_gradients[0]) return;
    require(!f.adds(0), "rows_from_experts", "something else uses the experts' output");
    exchange(f).to_experts(f.output_gradient, f.input_gradients[0]);
  }
};

}  // namespace

Var divided_experts(Var x, Var gates, Var up, Var down, const Routing& routing, int ranks) {
  const ExpertRows layout{x.shape().rows(), routing.experts, ranks};
  const std::int64_t columns = x.shape().columns();
  require(ranks > 0 && routing.experts % ranks == 0 && routing.sequence > 0 &&
              layout.rows % routing.sequence == 0 &&
              gates.shape() == Shape({layout.rows, routing.experts}),
          "divided_experts",
          "x is " + x.shape().text() + ", gates " + gates.shape().text() + ", " +
              std::to_string(routing.experts) + " experts over " + std::to_string(ranks) +
              " ranks");
  Graph& graph = *x.graph;
  const Var own = graph.apply(std::make_unique<GatesOfOwnExperts>(layout), {gates},
                              {layout.all(), layout.own()});
  const Var rows = graph.apply(std::make_unique<RowsToExperts>(layout, columns), {x, gates, own},
                               {layout.all(), columns});
  const Var y = experts(rows, own, up, down, slots_of(layout, routing));
  return graph.apply(std::make_unique<RowsFromExperts>(layout, columns), {y, gates, own},
                     x.shape());
}

}  // namespace bench::training
