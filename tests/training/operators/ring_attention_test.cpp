// Attention whose tokens are divided over ranks next to that of one rank.
#include "training/operators/ring_attention.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/elements.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/engine/lane.h"
#include "training/host/host_kernels.h"
#include "training/operators/transformer.h"
#include "training/parallel/rank_sum.h"

namespace bench::training {
namespace {

constexpr std::int64_t kSamples = 3;

/// By (sample, position, column), of a tensor that any rank can make a part of.
double value_of(std::uint64_t stream, std::int64_t row, std::int64_t columns, std::int64_t column) {
  return random_normal(stream, static_cast<std::uint64_t>(row * columns + column));
}

struct Attended {
  std::vector<double> outputs, gradients;  // of all rows of the whole samples, by position
};

/// What one rank's rows of the result and the input's gradient are; zeros elsewhere.
Attended attend(const AttentionShape& shape, const ContextPart& part, const KernelSet& kernels) {
  const std::int64_t tokens = part.tokens(shape.sequence), columns = shape.packed_columns();
  const std::int64_t wide = shape.output_columns();
  Graph graph(Dtype::f64);
  const Var in = graph.input_with_gradient("in", {kSamples * tokens, columns});
  const Var out = part.is_whole() ? attention(in, shape) : ring_attention(in, shape, part);
  const AttentionShape& s = shape;
  Frame f;
  const auto& op = *graph.nodes().back().op;
  MemoryBlock block(1 << 24, "a test's tensors");
  std::byte* at = block.data();
  const auto tensor = [&](std::int64_t rows, std::int64_t n) {
    const View view{at, rows, n, Dtype::f64};
    at += bytes_of(view).size();
    REQUIRE(at <= block.data() + block.bytes());
    return view;
  };
  const StepScalars scalars;
  f.kernels = &kernels;
  f.scalars = &scalars;
  f.inputs = {tensor(kSamples * tokens, columns)};
  f.output = tensor(out.shape().rows(), wide);
  for (const Saved& saved : op.saved())
    f.saved.push_back(tensor(saved.shape.rows(), saved.shape.columns()));
  f.output_gradient = tensor(out.shape().rows(), wide);
  f.input_gradients = {tensor(kSamples * tokens, columns)};
  f.input_adds = {Adds::yes};
  const auto for_each_row = [&](const auto& visit) {
    for (std::int64_t i = 0; i < kSamples * tokens; ++i)
      visit(i, i / tokens * s.sequence + part.position(s.sequence, i % tokens));
  };
  for_each_row([&](std::int64_t own, std::int64_t row) {
    for (std::int64_t c = 0; c < columns; ++c) {
      f.inputs[0].as<double>()[own * columns + c] = value_of(1, row, columns, c);
      f.input_gradients[0].as<double>()[own * columns + c] = value_of(2, row, columns, c);
    }
    for (std::int64_t c = 0; c < wide; ++c)
      f.output_gradient.as<double>()[own * wide + c] = value_of(3, row, wide, c);
  });
  f.workspace = tensor(1, op.forward_workspace());
  op.forward(f);
  f.workspace = tensor(1, op.backward_workspace());
  op.backward(f);
  Attended result;
  result.outputs.resize(static_cast<std::size_t>(kSamples * s.sequence * wide));
  result.gradients.resize(static_cast<std::size_t>(kSamples * s.sequence * columns));
  for_each_row([&](std::int64_t own, std::int64_t row) {
    std::copy_n(f.output.as<double>() + own * wide, wide, result.outputs.begin() + row * wide);
    std::copy_n(f.input_gradients[0].as<double>() + own * columns, columns,
                result.gradients.begin() + row * columns);
  });
  return result;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return a.size() == b.size() ? most : 1e30;
}

}  // namespace

TEST_CASE("each token belongs to one rank, and causal work is divided equally") {
  for (const int ranks : {1, 2, 3, 5}) {
    constexpr std::int64_t kLength = 60;
    std::set<std::int64_t> seen;
    std::set<std::int64_t> work;  // keys that a rank's queries see
    for (int rank = 0; rank < ranks; ++rank) {
      const ContextPart part{rank, ranks};
      std::int64_t keys = 0, before = -1;
      for (std::int64_t token = 0; token < part.tokens(kLength); ++token) {
        const std::int64_t position = part.position(kLength, token);
        CHECK(position > before);
        CHECK(seen.insert(position).second);
        keys += position + 1;
        before = position;
      }
      for (const int chunk : part.own_chunks()) CHECK(part.owner(chunk) == rank);
      work.insert(keys);
    }
    CHECK(seen.size() == kLength);
    CHECK(work.size() == 1);
  }
}

TEST_CASE("a ring of ranks has the attention and gradients of one") {
  for (const AttentionShape& shape :
       {AttentionShape{24, 4, 2, 8, true, 0}, AttentionShape{24, 4, 4, 6, true, 2},
        AttentionShape{24, 6, 3, 4, true, 3}, AttentionShape{24, 2, 1, 8, false, 0}}) {
    const Attended whole = attend(shape, {}, host_kernels(Dtype::f64));
    for (const int ranks : {2, 3, 4}) {
      INFO(ranks << " ranks, " << shape.shifted_kv_heads << " shifted heads, causal "
                 << shape.causal);
      Attended together;
      std::mutex mutex;
      run_ranks(ranks, [&](Group& group) {
        const KernelFactory kernels = with_rank_kernels(
            [](Dtype dtype) { return host_kernels(dtype); }, {nullptr, nullptr, &group});
        const Attended own = attend(shape, {group.rank(), ranks}, kernels(Dtype::f64));
        const std::lock_guard lock(mutex);
        together.outputs.resize(own.outputs.size());
        together.gradients.resize(own.gradients.size());
        for (std::size_t i = 0; i < own.outputs.size(); ++i) together.outputs[i] += own.outputs[i];
        for (std::size_t i = 0; i < own.gradients.size(); ++i)
          together.gradients[i] += own.gradients[i];
      });
      CHECK(largest_difference(whole.outputs, together.outputs) < 1e-12);
      CHECK(largest_difference(whole.gradients, together.gradients) < 1e-11);
    }
  }
}

TEST_CASE("parts of a softmax are joined without overflow, whichever is larger") {
  const AttentionShape shape{2, 1, 1, 2, false, 0};
  const KernelSet kernels = host_kernels(Dtype::f64);
  // Log sums of 0, 800, -800; the weights of the second are 1/2, 0 and 1.
  std::vector<double> sum{1, 2, 1, 2, 1, 2}, part{3, 6, 3, 6, 3, 6};
  std::vector<double> log_sum{0, 800, -800}, log_part{0, 0, 0};
  kernels.attention->join(shape,
                          {{part.data(), 3, 2, Dtype::f64}, {log_part.data(), 3, 1, Dtype::f64}},
                          {{sum.data(), 3, 2, Dtype::f64}, {log_sum.data(), 3, 1, Dtype::f64}});
  CHECK(sum == std::vector<double>{2, 4, 1, 2, 3, 6});
  CHECK(log_sum[0] == Approx(std::log(2.0)));
  CHECK(log_sum[1] == 800.0);
  CHECK(log_sum[2] == 0.0);
}

TEST_CASE("sequences that cannot be divided are refused with both sizes") {
  Graph graph(Dtype::f64);
  const AttentionShape shape{24, 2, 2, 4, true, 0};
  const Var in = graph.input_with_gradient("in", {24, shape.packed_columns()});
  CHECK_THROWS_WITH(ring_attention(in, shape, {0, 5}),
                    Catch::Matchers::Contains("a sequence of 24 over 5 ranks"));
  CHECK_THROWS_WITH(ring_attention(in, {24, 3, 2, 4, true, 0}, {0, 2}),
                    Catch::Matchers::Contains("3 heads are not a multiple of 2"));
}

TEST_CASE("each rank of a ring has its share of the operations, and of those done again") {
  const AttentionShape shape{24, 2, 2, 4, true, 0};
  const auto node_of = [&](Graph& graph, const ContextPart& part) -> const Operator& {
    const Var in =
        graph.input_with_gradient("in", {3 * part.tokens(shape.sequence), shape.packed_columns()});
    part.is_whole() ? attention(in, shape) : ring_attention(in, shape, part);
    return *graph.nodes().back().op;
  };
  Graph whole(Dtype::f32), part(Dtype::f32);
  const Operator &all = node_of(whole, {}), &own = node_of(part, {1, 3});
  CHECK(own.flops() == Approx(all.flops() / 3.0));
  CHECK(own.repeated_flops() == Approx(all.repeated_flops() / 3.0));
  CHECK(all.repeated_flops() == 0.5 * all.flops());
  CHECK(own.largest_message() == 3 * 8 * 2 * 2 * 4);  // rows x keys and values x heads x columns
}

}  // namespace bench::training
