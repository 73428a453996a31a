// The GPU's tiled attention, emulated on the CPU fragment by fragment, against the host's.
#include <cmath>
#include <random>

#include "tests/support/catch.h"
#include "tests/training/host_launch.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/functor_groups.h"
#include "training/kernels/memory.h"

namespace bench::training {
namespace {

/// A bf16 tensor of normal values, aligned as arenas are.
class NormalTensor {
 public:
  NormalTensor(std::int64_t rows, std::int64_t columns, unsigned seed)
      : block_(rows * columns * 2, "a test"), rows_(rows), columns_(columns) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    if (seed > 0)
      for (std::int64_t i = 0; i < rows * columns; ++i) view().as<Bf16>()[i] = Bf16(normal(random));
  }
  View view() const { return {block_.data(), rows_, columns_, Dtype::bf16}; }
  float at(std::int64_t i) const { return static_cast<float>(view().as<Bf16>()[i]); }

 private:
  MemoryBlock block_;
  std::int64_t rows_, columns_;
};

struct AttentionResult {
  NormalTensor output, gradient;
  std::vector<float> log_sum, row_sums;
};

AttentionResult run_attention(AttentionKernels& kernels, const AttentionShape& shape, bool add) {
  const std::int64_t rows = 2 * shape.sequence;
  const NormalTensor packed(rows, shape.packed_columns(), 1);
  const NormalTensor upper(rows, shape.output_columns(), 2);
  AttentionResult result{NormalTensor(rows, shape.output_columns(), 0),
                         NormalTensor(rows, shape.packed_columns(), add ? 3 : 4),
                         std::vector<float>(static_cast<std::size_t>(rows * shape.heads)),
                         {}};
  result.row_sums = result.log_sum;
  const View log_sum{result.log_sum.data(), rows, shape.heads, Dtype::f32};
  kernels.forward(shape, packed.view(), result.output.view(), log_sum);
  kernels.backward(shape, {packed.view(),
                           result.output.view(),
                           upper.view(),
                           log_sum,
                           {result.row_sums.data(), rows, shape.heads, Dtype::f32},
                           result.gradient.view(),
                           add});
  return result;
}

double worst_difference(const NormalTensor& a, const NormalTensor& b) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < a.view().elements(); ++i) {
    const double difference = std::abs(static_cast<double>(a.at(i)) - b.at(i));
    if (!(difference <= worst)) worst = difference;  // NaN too
  }
  return worst;
}

}  // namespace

TEST_CASE("flash attention: tiles match the host's attention, forward and backward") {
  struct Case {
    AttentionShape shape;
    bool add;
  };
  for (const Case& one :
       {Case{{64, 1, 1, 64, true, 0}, false}, Case{{150, 2, 1, 64, true, 1}, true},
        Case{{97, 2, 2, 64, false, 1}, false}, Case{{70, 4, 2, 128, true, 1}, false},
        Case{{33, 1, 1, 128, false, 0}, true}}) {
    HostLaunch launch;
    FunctorAttention<Bf16, HostLaunch&> flash(launch);
    const auto host = host_kernels(Dtype::bf16);
    const AttentionResult there = run_attention(flash, one.shape, one.add);
    const AttentionResult here = run_attention(*host.attention, one.shape, one.add);
    INFO(one.shape.sequence << " positions, heads of " << one.shape.head_dim);
    // Probabilities are rounded to bf16 before they meet values: 2^-9 of sums near 1.
    CHECK(worst_difference(there.output, here.output) < 0.03);
    CHECK(worst_difference(there.gradient, here.gradient) < 0.06);
    for (std::size_t i = 0; i < here.log_sum.size(); ++i)
      CHECK(there.log_sum[i] == Approx(here.log_sum[i]).margin(1e-3));
  }
}

TEST_CASE("flash attention: head sizes without tiles use the simple kernel and agree") {
  HostLaunch launch;
  FunctorAttention<Bf16, HostLaunch&> simple(launch);
  const auto host = host_kernels(Dtype::bf16);
  const AttentionShape shape{37, 4, 2, 24, true, 1};
  const AttentionResult there = run_attention(simple, shape, true);
  const AttentionResult here = run_attention(*host.attention, shape, true);
  CHECK(worst_difference(there.output, here.output) < 0.02);
  CHECK(worst_difference(there.gradient, here.gradient) < 0.04);
}

TEST_CASE("flash attention: the comparison finds keys shifted the wrong way") {
  HostLaunch launch;
  FunctorAttention<Bf16, HostLaunch&> flash(launch);
  AttentionShape shape{70, 2, 1, 64, true, 1};
  const AttentionResult right = run_attention(flash, shape, false);
  shape.shifted_kv_heads = 0;
  CHECK(worst_difference(run_attention(flash, shape, false).output, right.output) > 0.3);
}

}  // namespace bench::training
