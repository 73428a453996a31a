#include "training/trainer/moved_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "training/engine/host_bytes.h"
#include "training/kernels/functors/portable.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

constexpr std::int64_t kPart = 1024;

/// Whether the tensor is used only for row lookups: rows that no token selected have no gradient.
bool is_lookup_table(const Graph& graph, int tensor) {
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    const bool reads = std::ranges::count(node.inputs, tensor) > 0;
    if (reads && node.op->name() == "gather_shards") return is_lookup_table(graph, node.output);
    return !reads || node.op->looks_up_rows();
  });
}

/// Empty if the optimizer keeps no master weights.
View master_row(const Replica& replica) {
  for (const NamedView& state : replica.optimizer_state())
    if (state.name == "master_weights") return state.view;
  return {};
}

std::int64_t part_size(View view, std::size_t part) {
  return std::min(kPart, view.elements() - static_cast<std::int64_t>(part) * kPart);
}

float widened(View view, std::int64_t element) {
  return view.dtype == Dtype::f16 ? static_cast<float>(view.as<F16>()[element])
                                  : static_cast<float>(view.as<Bf16>()[element]);
}

}  // namespace

namespace {

/// The elements of a parameter that updates change: not the padding of its shard.
View without_padding(const Tensor& tensor, View view) {
  const ParameterShard& shard = tensor.parameter.shard;
  return shard.ranks > 1 ? part_of(view, 0, shard.real_elements()) : view;
}

}  // namespace

MovedParameters::MovedParameters(const Replica& replica) : replica_(replica) {
  const Weights here = replica.weights().on_host();
  const Graph& graph = *replica.plan().graph;
  const bool has_masters = is_narrow(graph.compute()) && replica.updates_done() > 0;
  for (const int id : graph.parameters()) {
    if (!graph.tensor(id).parameter.trainable) continue;
    tensors_.push_back({id, is_lookup_table(graph, id), parts_of(here, id), {}});
    if (has_masters) tensors_.back().masters = masters_of(here, id);
  }
}

std::vector<std::uint64_t> MovedParameters::parts_of(const Weights& here, int tensor) const {
  const View view =
      without_padding(replica_.plan().graph->tensor(tensor), here.view(replica_.plan(), tensor));
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

std::vector<MovedParameters::Masters> MovedParameters::masters_of(const Weights& here,
                                                                  int tensor) const {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  const View view =
      without_padding(replica_.plan().graph->tensor(tensor), here.view(replica_.plan(), tensor));
  const View masters = master_row(replica_);
  const std::int64_t begin = element_of(here.all(), view), end = begin + view.elements();
  std::vector<Masters> parts(static_cast<std::size_t>((view.elements() + kPart - 1) / kPart));
  for (const UpdateRange& range : replica_.updates()) {
    const std::int64_t at = element_of(replica_.weights().all(), range.parameters);
    const std::int64_t from = std::max(begin, at);
    const std::int64_t to = std::min(end, at + range.parameters.elements());
    if (from >= to) continue;
    const HostBytes bytes({"masters", part_of(masters, range.first + from - at, to - from),
                           replica_.kernels().memory.get()});
    const auto* wide = reinterpret_cast<const float*>(bytes.all().data());
    for (std::int64_t i = from; i < to; ++i) {
      const float master = wide[i - from];
      Masters& part = parts[static_cast<std::size_t>((i - begin) / kPart)];
      ++part.owned;
      if (master == 0.0f || master == widened(view, i - begin)) ++part.settled;
      part.sum = (part.sum ^ std::bit_cast<std::uint32_t>(master)) * kPrime;
    }
  }
  return parts;
}

/// For each part: the number of unchanged elements, then the number of compared elements. A part
/// counts as changed as a whole; in 16 bits the masters updated on this rank are compared too.
std::vector<double> MovedParameters::count_unchanged(const Weights& here,
                                                     const Snapshot& before) const {
  const auto now = parts_of(here, before.id);
  const View view = without_padding(replica_.plan().graph->tensor(before.id),
                                    here.view(replica_.plan(), before.id));
  const bool narrow = is_narrow(view.dtype) && master_row(replica_);
  std::vector<Masters> masters;
  std::vector<double> counts;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool moved = now[i] != before.parts[i];
    const auto size = static_cast<double>(part_size(view, i));
    if (moved || !narrow) {
      counts.insert(counts.end(), {moved ? 0.0 : size, size});
      continue;
    }
    if (masters.empty()) masters = masters_of(here, before.id);
    const bool same = !before.masters.empty() && masters[i].sum == before.masters[i].sum;
    counts.push_back(static_cast<double>(same ? masters[i].owned : masters[i].settled));
    counts.push_back(static_cast<double>(masters[i].owned));
  }
  return counts;
}

std::vector<std::string> MovedParameters::unchanged_parameters(Group& group) const {
  const Weights here = replica_.weights().on_host();
  std::vector<double> all;
  for (const Snapshot& before : tensors_) {
    const std::vector<double> own = count_unchanged(here, before);
    all.insert(all.end(), own.begin(), own.end());
  }
  if (is_narrow(replica_.plan().graph->compute())) group.sum(all);
  std::vector<std::string> found;
  std::size_t at = 0;
  for (const Snapshot& before : tensors_) {
    const std::size_t parts = before.parts.size();
    std::size_t still = 0;
    for (std::size_t i = 0; i < parts; ++i, at += 2)
      if (all[at + 1] > 0.0 && all[at] == all[at + 1]) ++still;
    if (still == 0 || (before.is_lookup && still < parts)) continue;
    found.push_back(fmt::format("{} ({} of {} parts)",
                                replica_.plan().graph->tensor(before.id).name, still, parts));
  }
  return found;
}

}  // namespace bench::training
