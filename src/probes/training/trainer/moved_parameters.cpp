#include "probes/training/trainer/moved_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "probes/training/sources/checksum.h"

namespace bench::training {
namespace {

constexpr std::int64_t kPart = 1024;

/// Every use is a look-up of rows: what no token named has no gradient.
bool only_looked_up(const Graph& graph, int tensor) {
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    const bool reads = std::ranges::count(node.inputs, tensor) > 0;
    return !reads || node.op->name() == "embedding";
  });
}

}  // namespace

MovedParameters::MovedParameters(const Plan& plan, const Weights& weights)
    : plan_(plan), weights_(weights) {
  const Weights here = weights.on_host();
  const auto& tensors = plan.graph->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const int id = static_cast<int>(i);
    if (tensors[i].kind == Tensor::Kind::parameter && tensors[i].parameter.trainable)
      tensors_.push_back({id, only_looked_up(*plan.graph, id), parts_of(here, id)});
  }
}

std::vector<std::uint64_t> MovedParameters::parts_of(const Weights& here, int tensor) const {
  const View view = here.view(plan_, tensor);
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  std::vector<std::uint64_t> parts;
  for (std::int64_t first = 0; first < view.elements(); first += kPart) {
    const std::int64_t count = std::min(kPart, view.elements() - first);
    const std::span<const std::byte> bytes(view.as<std::byte>() + first * size,
                                           static_cast<std::size_t>(count * size));
    parts.push_back(sample_checksum(Split::train, 0, bytes));
  }
  return parts;
}

std::vector<std::string> MovedParameters::unmoved() const {
  const Weights here = weights_.on_host();
  std::vector<std::string> found;
  for (const Remembered& before : tensors_) {
    const auto now = parts_of(here, before.id);
    std::size_t same = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] == before.parts[i]) ++same;
    if (same == 0 || (before.looked_up && same < now.size())) continue;
    found.push_back(fmt::format("{} ({} of {} parts)",
                                plan_.graph->tensors()[static_cast<std::size_t>(before.id)].name,
                                same, now.size()));
  }
  return found;
}

}  // namespace bench::training
