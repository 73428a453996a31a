#include "training/trainer/whole_model.h"

#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "training/kernels/functors/portable.h"

namespace bench::training {
namespace {

double element_of_view(View view, std::int64_t i) {
  switch (view.dtype) {
    case Dtype::f64:
      return view.as<double>()[i];
    case Dtype::bf16:
      return static_cast<float>(view.as<Bf16>()[i]);
    case Dtype::f16:
      return static_cast<float>(view.as<F16>()[i]);
    default:
      return view.as<float>()[i];
  }
}

void set_element(View view, std::int64_t i, double value) {
  switch (view.dtype) {
    case Dtype::f64:
      view.as<double>()[i] = value;
      break;
    case Dtype::bf16:
      view.as<Bf16>()[i] = Bf16(static_cast<float>(value));
      break;
    case Dtype::f16:
      view.as<F16>()[i] = F16(static_cast<float>(value));
      break;
    default:
      view.as<float>()[i] = static_cast<float>(value);
  }
}

/// visit(i, j) for every element: i in the part, j in the whole.
template <class Visit>
void for_each_element(const ParameterSlice& slice, View part, const Visit& visit) {
  if (!slice.is_part()) {
    for (std::int64_t i = 0; i < part.elements(); ++i) visit(i, i);
    return;
  }
  std::int64_t i = 0;
  for (std::int64_t row = 0; row < part.rows; ++row)
    for (const auto& [first, count] : slice.columns)
      for (std::int64_t column = 0; column < count; ++column, ++i)
        visit(i, (slice.first_row + row) * slice.whole.columns() + first + column);
}

std::map<std::string, int> parameters_by_name(const Graph& graph) {
  std::map<std::string, int> ids;
  for (const int id : graph.parameters()) ids[graph.tensor(id).name] = id;
  return ids;
}

/// Sets the whole model's parameters to those that its ranks have parts of.
void gather(const Replica& replica, const ModelRanks& ranks, const Plan& plan,
            const Weights& weights) {
  const Graph& graph = *replica.plan().graph;
  const std::map<std::string, int> own = parameters_by_name(graph);
  for (const int id : plan.graph->parameters()) {
    const View whole = weights.view(plan, id);
    std::vector<double> values(static_cast<std::size_t>(whole.elements()));
    if (const auto it = own.find(plan.graph->tensor(id).name); it != own.end()) {
      const ParameterSlice& slice = graph.tensor(it->second).parameter.slice;
      const View part = replica.weights().view(replica.plan(), it->second);
      // Every element comes from one rank.
      if (slice.is_part() || ranks.part().tensor_rank == 0)
        for_each_element(slice, part, [&](std::int64_t i, std::int64_t j) {
          values[static_cast<std::size_t>(j)] = element_of_view(part, i);
        });
    }
    ranks.model().sum(values);
    for (std::int64_t i = 0; i < whole.elements(); ++i)
      set_element(whole, i, values[static_cast<std::size_t>(i)]);
  }
}

struct Squares {
  double difference = 0.0, length = 0.0;
};

Squares compare_gradients(const Replica& replica, const ModelRanks& ranks, const Plan& plan,
                          const Lane& whole) {
  const Graph& graph = *replica.plan().graph;
  const std::map<std::string, int> ids = parameters_by_name(*plan.graph);
  Squares squares;
  for (const auto& [id, action] : replica.plan().gradient_order) {
    const ParameterSlice& slice = graph.tensor(id).parameter.slice;
    const double weight = slice.is_part() ? 1.0 : 1.0 / ranks.part().tensor_ranks;
    const View part = replica.lane(0).gradient({nullptr, id});
    const View other = whole.gradient({nullptr, ids.at(graph.tensor(id).name)});
    for_each_element(slice, part, [&](std::int64_t i, std::int64_t j) {
      const double a = element_of_view(part, i), b = element_of_view(other, j);
      squares.difference += weight * (a - b) * (a - b);
      squares.length += weight * b * b;
    });
  }
  return squares;
}

}  // namespace

std::optional<WholeModelComparison> compare_with_whole(
    const Workload& workload, const ModelRanks& ranks, Replica& replica,
    const KernelFactory& kernels, bool recompute, double most_bytes,
    const std::function<void(const Model&, const Lane&, int)>& fill, const Model& part,
    std::int64_t micro_batch) {
  const Dtype dtype = part.graph->compute();
  const Model model = workload.model(micro_batch, dtype, recompute);
  const Plan plan = make_plan(*model.graph);
  std::int64_t bytes = 0;
  for (const std::int64_t of_label : plan.peak_bytes()) bytes += of_label;
  if (!replica.kernels().memory->on_host() || static_cast<double>(bytes) > most_bytes) return {};
  const Weights weights(plan, 1);
  gather(replica, ranks, plan, weights);
  Lane lane(plan, weights, kernels);
  const double scale = replica.loss_scale().value() / static_cast<double>(replica.rows());
  for (int i = 0; i < replica.micro_batches(); ++i) {
    fill(model, lane, i);
    const StepScalars scalars{scale, i == 0};
    lane.forward(scalars);
    lane.add_up(model.losses, i > 0);
    lane.backward(scalars);
  }
  replica.forward_backward([&](const Lane& to, int number) { fill(part, to, number); });
  const Squares squares = compare_gradients(replica, ranks, plan, lane);
  const double loss = lane.sum_of_losses();
  const double own = ranks.counts_losses() ? replica.loss_sum() - loss : 0.0;
  std::vector<double> sums = {squares.difference, squares.length};
  ranks.all().sum(sums);
  WholeModelComparison comparison;
  comparison.gradient_distance = std::sqrt(sums[0] / sums[1]);
  comparison.loss_distance = largest(ranks.all(), std::abs(own / loss));
  if (!std::isfinite(comparison.gradient_distance)) comparison.gradient_distance = 1.0;
  if (!std::isfinite(comparison.loss_distance)) comparison.loss_distance = 1.0;
  comparison.tolerance = is_narrow(dtype) ? 2e-2 : 1e-4;
  return comparison;
}

}  // namespace bench::training
