// R-GAT against finite differences and a plain reference, faults that these find, what a prediction
// may depend on, and the model's sizes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/faulty_rgat.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/rgat.h"
#include "training/workloads/rgat.h"

namespace bench::training {
namespace {

constexpr std::int64_t kSeeds = 2;
const RgatShape kLittleRgat{{{3, 2}, 4, 5}, 6, 2};

KernelSet kernels_of_rgat(Dtype dtype) { return host_kernels(dtype); }

void fill_neighbourhoods(const Rgat& model, const Lane& lane) {
  for (std::size_t group = 0; group < model.features.size(); ++group) {
    const View rows = lane.view(model.features[group]);
    for (std::int64_t i = 0; i < rows.elements(); ++i)
      rows.as<double>()[i] = random_normal(group + 1, static_cast<std::uint64_t>(i));
  }
  lane.view(model.labels).as<std::int32_t>()[0] = 1;
  lane.view(model.labels).as<std::int32_t>()[1] = 3;
}

GradientError check_rgat(const KernelFactory& kernels, bool recompute = false) {
  const Rgat model = make_rgat(kLittleRgat, kSeeds, Dtype::f64, recompute);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_neighbourhoods(model, lane); },
      kernels);
}

/// The attention, term by term.
std::vector<double> attended_plainly(const NeighbourShape& shape, const std::vector<double>& values,
                                     const std::vector<double>& own,
                                     const std::vector<double>& vector) {
  const auto fan_out = static_cast<std::size_t>(shape.fan_out);
  const auto heads = static_cast<std::size_t>(shape.heads);
  const auto dim = static_cast<std::size_t>(shape.head_dim), width = heads * dim;
  std::vector<double> y(own.size() * dim);
  for (std::size_t node = 0; node < own.size() / heads; ++node)
    for (std::size_t head = 0; head < heads; ++head) {
      std::vector<double> weights(fan_out, own[node * heads + head]);
      double sum = 0.0;
      for (std::size_t j = 0; j < fan_out; ++j) {
        for (std::size_t d = 0; d < dim; ++d)
          weights[j] +=
              values[(node * fan_out + j) * width + head * dim + d] * vector[head * dim + d];
        weights[j] = std::exp(weights[j] < 0.0 ? 0.2 * weights[j] : weights[j]);
        sum += weights[j];
      }
      for (std::size_t j = 0; j < fan_out; ++j)
        for (std::size_t d = 0; d < dim; ++d)
          y[node * width + head * dim + d] +=
              weights[j] / sum * values[(node * fan_out + j) * width + head * dim + d];
    }
  return y;
}

}  // namespace

TEST_CASE("attention over neighbours is the softmax of leaky scores, term by term") {
  for (const NeighbourShape& shape : {NeighbourShape{4, 2, 3}, NeighbourShape{15, 1, 40}}) {
    const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::vector<double> values(count(3 * shape.fan_out * shape.width()));
    std::vector<double> own(count(3 * shape.heads)), vector(count(shape.width()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_normal(1, i);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = random_normal(2, i);
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = random_normal(3, i);
    const std::vector<double> expected = attended_plainly(shape, values, own, vector);
    for (const std::string_view isa : host_kernel_isas()) {
      INFO(isa);
      std::vector<double> y(expected.size());
      const auto view = [](std::vector<double>& of, std::int64_t columns) {
        return View{of.data(), std::ssize(of) / columns, columns, Dtype::f64};
      };
      host_kernels(Dtype::f64, isa)
          .neighbours->attention(
              shape,
              {view(values, shape.width()), view(own, shape.heads), view(vector, shape.width())},
              view(y, shape.width()));
      for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).margin(1e-12));
    }
  }
}

TEST_CASE("the gradient of R-GAT is correct") {
  for (const bool recompute : {false, true}) {
    const GradientError error = check_rgat(kernels_of_rgat, recompute);
    INFO("worst at " << error.parameter);
    CHECK(error.worst < 1e-6);
  }
}

TEST_CASE("finite differences find faults of R-GAT") {
  const Fault faults[] = {{"vectors without gradient", replace_neighbours<UntaughtVectors>},
                          {"gradients of other nodes", replace_neighbours<ShiftedNodes>},
                          {"equal weights", replace_neighbours<EvenWeights>}};
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_rgat([&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("a prediction depends on all nodes of its own neighbourhood, on no other and no label") {
  RgatShape shape = kLittleRgat;
  shape.hidden = 32;  // some unit of each node is above zero
  const Rgat model = make_rgat(shape, kSeeds, Dtype::f64);
  const Plan plan = make_plan(*model.graph, false);
  Weights weights(plan, 5);
  Lane lane(plan, weights, kernels_of_rgat);
  const auto predicted = [&](const auto& change) {
    fill_neighbourhoods(model, lane);
    change();
    lane.forward({});
    const View made = lane.view(model.logits);
    return std::vector<double>(made.as<double>(), made.as<double>() + made.elements());
  };
  const auto before = predicted([] {});
  CHECK(predicted([&] { lane.view(model.labels).as<std::int32_t>()[0] = 2; }) == before);
  for (std::size_t group = 0; group < model.features.size(); ++group) {
    const View rows = lane.view(model.features[group]);
    INFO(model.features[group].name());
    // Of the first sample, the last node; of the second one, the first.
    for (const std::int64_t row : {rows.rows / 2 - 1, rows.rows / 2}) {
      const auto after = predicted([&] {
        for (std::int64_t column = 0; column < rows.columns; ++column)
          rows.as<double>()[row * rows.columns + column] += 1.0;
      });
      const bool first = row < rows.rows / 2;
      CHECK(std::equal(before.begin(), before.begin() + 4, after.begin()) != first);
      CHECK(std::equal(before.begin() + 4, before.end(), after.begin() + 4) == first);
    }
  }
}

TEST_CASE("R-GAT has the expected parameters and FLOPs") {
  const RgatShape tiny = rgat_preset("tiny");
  // Layer 0 has all types but institutes as receivers, and seven relations; layer 1 the papers'.
  const std::int64_t own0 = 3 * (8 * 32 + 32), own1 = 32 * 32 + 32;
  const std::int64_t relation0 = 8 * 32 + 8 * 2 + 32, relation1 = 32 * 32 + 32 * 2 + 32;
  CHECK(make_rgat(tiny, 1).graph->parameter_count() ==
        own0 + own1 + 7 * relation0 + 4 * relation1 + 32 * 4 + 4);
  // Papers: the seed, 8 neighbours; with 4 authors and 4 fields they send and receive.
  const double sent = 16 + 4 * (8 * 3) + 2 * (4 * 3) + 4 * 3;  // nodes that send in layer 0
  const double scored = 4 * 9 + 2 * 4 + 4;                     // nodes and their relations
  const double first = sent * 2 * 8 * 32 + scored * 2 * 8 * 2 + 17 * 2 * 8 * 32;
  const double second = 16 * 2 * 32 * 32 + 4 * 2 * 32 * 2 + 2 * 32 * 32;
  const double attention = 4.0 * 32 * (sent + 16), head = 2.0 * 32 * 4;
  CHECK(make_rgat(tiny, 1).graph->forward_flops() == first + second + attention + head);
  CHECK(rgat_flops_per_sample(tiny) == 3.0 * (first + second + attention + head) - first);
  // Of MLPerf's benchmark: three layers of 512 columns and four heads.
  const RgatShape large = rgat_preset("igbh");
  CHECK(large.samples.fan_outs == std::vector<std::int64_t>{15, 10, 5});
  CHECK(large.samples.classes == 2983);
  CHECK(large.hidden == 512);
  CHECK(large.heads == 4);
}

TEST_CASE("every preset of rgat has a recipe, and a graph that fits its model") {
  for (const std::string& preset : rgat_presets()) {
    INFO(preset);
    const RgatSetting setting = rgat_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.batch % recipe.device_micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup <= recipe.horizon / 10);
    CHECK(recipe.target > 0.0);
    const PaperGraph graph(setting.graph(1));
    CHECK(graph.shape().columns == setting.shape.samples.columns);
    CHECK(graph.groups().size() == make_rgat(setting.shape, 1).features.size());
    // Nodes that a tree has twice are rare if its pairs are few for the nodes there are.
    for (std::size_t type = 0; type < kNodeTypes; ++type) {
      double nodes = 0.0;
      for (const NodeGroup& group : graph.groups())
        if (group.type == static_cast<NodeType>(type)) nodes += static_cast<double>(group.nodes);
      CHECK(nodes < 0.01 * static_cast<double>(setting.law.nodes[type]));
    }
  }
  CHECK_THROWS_WITH(rgat_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training
