// GELU between two GEMMs, with and without fused kernels.

#include "tests/support/catch.h"
#include "tests/training/case_tensors.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// The host's products with GELU done in them, element by element in f64.
class FusingGemm final : public GemmKernels {
 public:
  FusingGemm(std::unique_ptr<GemmKernels> plain, double damage)
      : plain_(std::move(plain)), damage_(damage) {}
  bool fuses(const GemmOptions&, View, View, View) override { return true; }
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    GemmOptions plain = product;
    plain.gelu = GeluStep::none;
    plain_->multiply(plain, a, b, c);
    if (product.gelu == GeluStep::none) return;
    for (std::int64_t i = 0; i < c.elements(); ++i) {
      double &y = c.as<double>()[i], &z = product.gelu_input.as<double>()[i];
      if (product.gelu == GeluStep::forward) z = y;
      const double inner = kRoot * (z + kCube * z * z * z), t = std::tanh(inner);
      const double slope =
          0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * kRoot * (1.0 + 3.0 * kCube * z * z);
      y = product.gelu == GeluStep::forward ? 0.5 * z * (1.0 + t) : y * slope * damage_;
    }
  }

 private:
  static constexpr double kRoot = 0.79788456080286535588, kCube = 0.044715;
  std::unique_ptr<GemmKernels> plain_;
  double damage_;
};

KernelFactory fusing_kernels(double damage) {
  return [damage](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.gemm = std::make_unique<FusingGemm>(std::move(set.gemm), damage);
    return set;
  };
}

/// Of GPT-2's feed-forward part in f64, against finite differences.
double gradient_error(const KernelFactory& kernels) {
  Graph graph(Dtype::f64);
  const auto parameter = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    return graph.parameter(name, {rows, columns}, {Initial::normal(0.7)});
  };
  const Var x = parameter("x", 22, 9);
  const GeluMlpWeights weights{parameter("up", 9, 37), parameter("up_bias", 1, 37),
                               parameter("down", 37, 9), parameter("down_bias", 1, 9)};
  const Var y = gelu_mlp(gelu_mlp(x, weights, x), weights, x);
  const Var targets = graph.input("targets", {22, 1}, Dtype::int32);
  const Var losses = cross_entropy(y, targets);
  const auto fill = [&](const Lane& lane) { fill_ids(lane.view(targets), 9, 5); };
  return check_gradients(graph, losses, fill, kernels).worst;
}

}  // namespace

TEST_CASE("the gradient of GELU between two GEMMs is correct, fused and not") {
  for (const std::string_view isa : host_kernel_isas())
    CHECK(gradient_error([isa](Dtype dtype) { return host_kernels(dtype, isa); }) < 1e-6);
  CHECK(gradient_error(fusing_kernels(1.0)) < 1e-6);
  CHECK(gradient_error(fusing_kernels(1.001)) > 1e-6);  // a slope that is a little wrong shows
}

TEST_CASE("fused GELU in bf16 keeps its input in bf16 and equals three separate steps") {
  constexpr std::int64_t kRows = 6, kIn = 8, kHidden = 24;
  Graph graph(Dtype::bf16);
  const Var x = graph.parameter("x", {kRows, kIn}, {Initial::normal(1.0)});
  const GeluMlpWeights weights{graph.parameter("up", {kIn, kHidden}, {Initial::normal(1.0)}),
                               graph.parameter("up_bias", {1, kHidden}, {Initial::normal(1.0)}),
                               graph.parameter("down", {kHidden, kIn}, {Initial::normal(1.0)}),
                               graph.parameter("down_bias", {1, kIn}, {Initial::normal(1.0)})};
  const Var one = gelu_mlp(x, weights, x);
  const Var three = add(
      x, linear(gelu(linear(x, weights.up, {weights.up_bias})), weights.down, {weights.down_bias}));
  const Plan plan = make_plan(graph, false);
  const Weights values(plan, 3);
  Lane lane(plan, values, [](Dtype dtype) { return host_kernels(dtype); });
  lane.forward({});
  const auto* a = lane.view(one).as<std::uint16_t>();
  const auto* b = lane.view(three).as<std::uint16_t>();
  CHECK(std::equal(a, a + kRows * kIn, b));
  const auto& saved = plan.actions.front().saved;
  REQUIRE(saved.size() == 2);
  for (const Slot& slot : saved) CHECK(slot.dtype == Dtype::bf16);
}

TEST_CASE("GELU between two GEMMs refuses mismatched weights, naming their shapes") {
  Graph graph(Dtype::f32);
  const Var x = graph.parameter("x", {4, 3}, {});
  const auto bias = [&](const char* name, std::int64_t n) {
    return graph.parameter(name, {1, n}, {});
  };
  const Var up = graph.parameter("up", {3, 5}, {}), down = graph.parameter("down", {5, 3}, {});
  CHECK_THROWS_WITH(gelu_mlp(x, {down, bias("a", 5), down, bias("b", 3)}, x),
                    Catch::Matchers::Contains("gelu_mlp: x is [4, 3]"));
  CHECK_THROWS_WITH(gelu_mlp(x, {up, bias("c", 4), down, bias("d", 3)}, x),
                    Catch::Matchers::Contains("the biases are [1, 4] and [1, 3]"));
}

}  // namespace bench::training
