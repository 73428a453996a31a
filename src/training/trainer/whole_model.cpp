#include "training/trainer/whole_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/elements.h"

namespace bench::training {
namespace {

std::vector<double> numbers_of(View view) {
  std::vector<double> numbers(static_cast<std::size_t>(view.elements()));
  decode(view.as<std::byte>(), view.dtype, false, numbers);
  return numbers;
}

/// visit(i, j) for every element that a rank has of a parameter: i there, j in the whole.
template <class Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  const ParameterSlice& slice = tensor.parameter.slice;
  const ParameterShard& shard = tensor.parameter.shard;
  const Shape& shape = shard.ranks > 1 ? shard.of : tensor.shape;
  const std::int64_t own = shard.ranks > 1 ? shard.elements() : shape.elements();
  const std::int64_t begin = shard.rank * own, end = std::min(begin + own, shape.elements());
  if (!slice.is_part()) {
    for (std::int64_t i = begin; i < end; ++i) visit(i - begin, i);
    return;
  }
  std::int64_t i = 0;  // in the slice, of which the shard is a part
  for (std::int64_t row = 0; row < shape.rows(); ++row)
    for (const auto& [first, count] : slice.columns)
      for (std::int64_t column = 0; column < count; ++column, ++i)
        if (i >= begin && i < end)
          visit(i - begin, (slice.first_row + row) * slice.whole.columns() + first + column);
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
      const Tensor& tensor = graph.tensor(it->second);
      const std::vector<double> part =
          numbers_of(replica.weights().view(replica.plan(), it->second));
      // Every element comes from one rank.
      const bool first = ranks.part().tensor_rank == 0 && ranks.part().expert_rank == 0;
      const bool only = tensor.parameter.slice.is_part() || first;
      if (only && ranks.replicas().rank() == 0)
        for_each_element(tensor, [&](std::int64_t i, std::int64_t j) {
          values[static_cast<std::size_t>(j)] = part[static_cast<std::size_t>(i)];
        });
    }
    ranks.all().sum(values);
    auto* at = whole.as<std::byte>();
    for (const double value : values) {
      encode(at, whole.dtype, value);
      at += size_of(whole.dtype);
    }
  }
}

/// Squares of differences, then of lengths, of the gradients of the whole model's parameters, in
/// the order of its graph; this rank's parts of them.
std::vector<double> compare_gradients(const Replica& replica, const ModelRanks& ranks,
                                      const Plan& plan, const Lane& whole) {
  const Graph& graph = *replica.plan().graph;
  const std::vector<int> all = plan.graph->parameters();
  const std::map<std::string, int> own = parameters_by_name(graph);
  std::vector<double> squares(2 * all.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto it = own.find(plan.graph->tensor(all[at]).name);
    if (it == own.end() || !graph.tensor(it->second).parameter.trainable) continue;
    const Tensor& tensor = graph.tensor(it->second);
    const bool divided = tensor.parameter.slice.is_part();
    const double weight =
        divided ? 1.0 : 1.0 / (ranks.part().tensor_ranks * ranks.part().expert_ranks);
    std::vector<double> part = numbers_of(replica.lane(0).gradient({nullptr, it->second}));
    // Of this rank's tokens, unless shards have the sum over all ranks already.
    if (ranks.part().shards == 1) ranks.context().sum(part);
    if (!divided) ranks.experts().sum(part);  // experts have those of all of their tokens
    const std::vector<double> other = numbers_of(whole.gradient({nullptr, all[at]}));
    for_each_element(tensor, [&](std::int64_t i, std::int64_t j) {
      const double a = part[static_cast<std::size_t>(i)], b = other[static_cast<std::size_t>(j)];
      squares[at] += weight * (a - b) * (a - b);
      squares[all.size() + at] += weight * b * b;
    });
  }
  return squares;
}

double finite_or_one(double distance) { return std::isfinite(distance) ? distance : 1.0; }

}  // namespace

std::string WholeModelComparison::text() const {
  return fmt::format(
      "loss and gradient differ by {:.2g} and {:.2g} (relative; '{}' differs most) from those of "
      "the "
      "whole model",
      loss_distance, gradient_distance, parameter);
}

double bytes_to_compare_with_whole(const DividedTraining& training) {
  const Model model = training.workload.model(training.micro_batch, training.part.graph->compute(),
                                              training.recompute);
  double bytes = 0.0, largest = 0.0;
  for (const std::int64_t of_label : make_plan(*model.graph).peak_bytes())
    bytes += static_cast<double>(of_label);
  for (const int id : model.graph->parameters())
    largest = std::max(largest, static_cast<double>(model.graph->tensor(id).shape.elements()));
  return bytes + 2.0 * largest * sizeof(double);
}

WholeModelComparison compare_with_whole(const DividedTraining& training) {
  const ModelRanks& ranks = training.ranks;
  Replica& replica = training.replica;
  const Dtype dtype = training.part.graph->compute();
  const Model model = training.workload.model(training.micro_batch, dtype, training.recompute);
  const Plan plan = make_plan(*model.graph);
  const Weights weights(plan, 1);
  gather(replica, ranks, plan, weights);
  Lane lane(plan, weights, training.kernels);
  // The gradient of copies that share parameters or experts is that of all of their samples.
  const int together = ranks.part().shards > 1 ? ranks.copies() : ranks.part().expert_ranks;
  const int first = ranks.copy() / together * together, last = first + together;
  const std::int64_t rows = replica.rows() * ranks.part().context.ranks * (last - first);
  const double scale = replica.loss_scale().value() / static_cast<double>(rows);
  double loss = 0.0;
  for (int copy = first; copy < last; ++copy)
    for (int i = 0; i < replica.micro_batches(); ++i) {
      training.fill(model, lane, copy, i);
      const StepScalars scalars{scale, copy == first && i == 0};
      lane.forward(scalars);
      lane.add_up(model.losses, i > 0);
      lane.backward(scalars);
      if (copy == ranks.copy() && i + 1 == replica.micro_batches()) loss = lane.sum_of_losses();
    }
  replica.forward_backward(
      [&](const Lane& to, int number) { training.fill(training.part, to, ranks.copy(), number); },
      rows);
  std::vector<double> squares = compare_gradients(replica, ranks, plan, lane);
  ranks.all().sum(squares);
  const std::vector<int> parameters = plan.graph->parameters();
  const std::size_t count = parameters.size();
  const double length =
      std::sqrt(std::accumulate(squares.begin() + std::ssize(parameters), squares.end(), 0.0));
  WholeModelComparison comparison;
  for (std::size_t i = 0; i < count; ++i) {
    const double least = std::max(std::sqrt(squares[count + i]), 1e-3 * length);
    const double distance = finite_or_one(std::sqrt(squares[i]) / least);
    if (distance < comparison.gradient_distance) continue;
    comparison.gradient_distance = distance;
    comparison.parameter = plan.graph->tensor(parameters[i]).name;
  }
  const double found = total(ranks.context(), replica.loss_sum());
  const double own = ranks.counts_losses() ? found - loss : 0.0;
  comparison.loss_distance = largest(ranks.all(), finite_or_one(std::abs(own / loss)));
  comparison.tolerance = is_narrow(dtype) ? 3e-2 : 1e-4;
  return comparison;
}

}  // namespace bench::training
