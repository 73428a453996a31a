#include "probes/training/trainer/moved_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "probes/training/kernels/functors/portable.h"
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

/// Of no data where the optimizer keeps none.
View master_row(const Optimizer& optimizer) {
  for (const NamedView& state : optimizer.state())
    if (state.name == "master_weights") return state.view;
  return {};
}

std::vector<float> downloaded(Memory& memory, View row) {
  std::vector<float> here(static_cast<std::size_t>(row.elements()));
  memory.download(row.data, here.data(), static_cast<std::int64_t>(here.size() * sizeof(float)));
  return here;
}

/// The element of a row at which this begins.
std::int64_t element_of(View row, View view) {
  return (view.as<std::byte>() - row.as<std::byte>()) /
         static_cast<std::int64_t>(size_of(row.dtype));
}

float widened(View view, std::int64_t element) {
  return view.dtype == Dtype::f16 ? static_cast<float>(view.as<F16>()[element])
                                  : static_cast<float>(view.as<Bf16>()[element]);
}

}  // namespace

MovedParameters::MovedParameters(const Replica& replica) : replica_(replica) {
  const Weights here = replica.weights().on_host();
  const Graph& graph = *replica.plan().graph;
  const auto& tensors = graph.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const int id = static_cast<int>(i);
    if (tensors[i].kind == Tensor::Kind::parameter && tensors[i].parameter.trainable)
      tensors_.push_back({id, only_looked_up(graph, id), parts_of(here, id)});
  }
}

std::vector<std::uint64_t> MovedParameters::parts_of(const Weights& here, int tensor) const {
  const View view = here.view(replica_.plan(), tensor);
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

/// Elements, by part, whose f32 value is what they were rounded from or not set yet. What another
/// rank updates is not counted: that rank knows.
std::vector<std::int64_t> MovedParameters::settled(const Weights& here, int tensor) const {
  const View view = here.view(replica_.plan(), tensor);
  const View masters = master_row(replica_.optimizer());
  const std::int64_t begin = element_of(here.all(), view), end = begin + view.elements();
  std::vector<std::int64_t> counts(static_cast<std::size_t>((view.elements() + kPart - 1) / kPart));
  for (const UpdateRange& range : replica_.updates()) {
    const std::int64_t at = element_of(replica_.weights().all(), range.parameters);
    const std::int64_t from = std::max(begin, at);
    const std::int64_t to = std::min(end, at + range.parameters.elements());
    if (from >= to) continue;
    const std::vector<float> wide = downloaded(
        *replica_.kernels().memory, part_of(masters, range.first + from - at, to - from));
    for (std::int64_t i = from; i < to; ++i) {
      const float master = wide[static_cast<std::size_t>(i - from)];
      if (master == 0.0f || master == widened(view, i - begin))
        ++counts[static_cast<std::size_t>((i - begin) / kPart)];
    }
  }
  return counts;
}

/// Parts that nothing has moved.
std::size_t MovedParameters::still(const Weights& here, const Remembered& before) const {
  const auto now = parts_of(here, before.id);
  const View view = here.view(replica_.plan(), before.id);
  std::vector<std::int64_t> settled_elements;
  std::size_t still = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] != before.parts[i]) continue;
    if (is_narrow(view.dtype) && settled_elements.empty())
      settled_elements = settled(here, before.id);
    const std::int64_t size =
        std::min(kPart, view.elements() - static_cast<std::int64_t>(i) * kPart);
    if (settled_elements.empty() || settled_elements[i] == size) ++still;
  }
  return still;
}

std::vector<std::string> MovedParameters::unmoved() const {
  const Weights here = replica_.weights().on_host();
  std::vector<std::string> found;
  for (const Remembered& before : tensors_) {
    const std::size_t parts = before.parts.size(), same = still(here, before);
    if (same == 0 || (before.looked_up && same < parts)) continue;
    const auto id = static_cast<std::size_t>(before.id);
    found.push_back(
        fmt::format("{} ({} of {} parts)", replica_.plan().graph->tensors()[id].name, same, parts));
  }
  return found;
}

}  // namespace bench::training
