// What the graphs for cuDNN compute. tests/training/cuda/cudnn/toolkit/cudnn_library_test.cpp tests
// them with cuDNN.
#include <algorithm>

#include "tests/support/catch.h"
#include "tests/training/interpreted_attention.h"
#include "training/cuda/cudnn/library.h"
#include "training/host/host_kernels.h"

namespace bench::cudnn {
namespace {

using Catch::Matchers::Contains;
using training::AttentionShape;

double worst_of(const std::vector<std::vector<double>>& found,
                const std::vector<std::vector<double>>& right, const AttentionShape& shape) {
  const std::int64_t heads[] = {shape.heads, shape.heads, shape.heads + 2 * shape.kv_heads};
  double worst = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i)
    worst = std::max(worst, worst_head(found[i], right[i], heads[i], 2 * shape.sequence));
  return worst;
}

}  // namespace

TEST_CASE("cuDNN attention graphs compute the same as the host's attention") {
  for (const AttentionShape& shape :
       {AttentionShape{24, 2, 2, 16, true, 0}, AttentionShape{24, 4, 2, 8, true, 0},
        AttentionShape{40, 3, 1, 8, false, 0}}) {
    INFO(shape.heads << " heads over " << shape.kv_heads);
    InterpretedAttention graphs;
    const auto found = attention_results(graphs, shape);
    const auto right = attention_results(*training::host_kernels(Dtype::bf16).attention, shape);
    CHECK(worst_of(found, right, shape) < 0.01);
  }
}

TEST_CASE("removing any operation of a cuDNN graph changes the results") {
  const AttentionShape shape{24, 2, 1, 8, true, 0};
  const AttentionProblem problem{shape, 2, Dtype::bf16};
  const auto right = attention_results(*training::host_kernels(Dtype::bf16).attention, shape);
  const std::size_t forward = attention_forward_graph(problem).operations.size();
  const std::size_t both = forward + attention_backward_graph(problem).operations.size();
  for (std::size_t which = 0; which < both; ++which) {
    bool only_range = false;  // the largest score cancels, but where numbers end
    InterpretedAttention graphs([&](OperationGraph& graph) {
      const bool first = graph.operations.size() == forward;
      if (first != (which < forward)) return;
      const auto at =
          graph.operations.begin() + static_cast<std::ptrdiff_t>(first ? which : which - forward);
      only_range = at->kind == OperationKind::reduction && at->reduction == ReductionOperator::max;
      graph.operations.erase(at);  // its result stays zero, or as it was
    });
    const double worst = worst_of(attention_results(graphs, shape), right, shape);
    INFO("operation " << which);
    CHECK((worst < kAgreement) == only_range);
  }
}

TEST_CASE("problems without a fused cuDNN kernel are refused with the reason") {
  const auto reason = [](AttentionShape shape, Dtype dtype = Dtype::bf16) {
    return refused({shape, 2, dtype});
  };
  CHECK(reason({1024, 12, 12, 64, true, 0}).empty());
  CHECK(reason({128, 8, 2, 128, false, 0}, Dtype::f16).empty());
  CHECK(reason({1024, 12, 12, 64, true, 0}, Dtype::f32) == "tensors are f32, not bf16 or f16");
  CHECK(reason({1024, 12, 12, 64, true, 1}) == "shifted key/value heads are not supported");
  CHECK(reason({1024, 12, 12, 60, true, 0}) ==
        "head dimension 60 is not a multiple of 8 up to 128");
  CHECK(reason({1024, 12, 12, 136, true, 0}) ==
        "head dimension 136 is not a multiple of 8 up to 128");
  CHECK(reason({1000, 12, 12, 64, true, 0}) == "sequence length 1000 is not a multiple of 128");
}

TEST_CASE("a missing or wrong cuDNN library is reported with the reason") {
  CHECK_THAT(Library("libcudnn_that_is_not_there.so.9").problem(),
             Contains("cannot load libcudnn_that_is_not_there.so.9"));
  CHECK_THAT(Library("libm.so.6").problem(), Contains("libm.so.6 has no cudnnGetVersion"));
}

}  // namespace bench::cudnn
