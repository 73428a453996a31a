#include "probes/traffic/buffer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "core/elements.h"

namespace bench {
namespace {

/// Sums are of equal parts for each rank.
std::int64_t padded_to(std::int64_t elements, int ranks) {
  return (elements + ranks - 1) / ranks * ranks;
}

std::int64_t sum_of(const std::vector<std::int64_t>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

bool is_message(const TrafficOp& op) {
  return op.kind == TrafficKind::send || op.kind == TrafficKind::receive;
}

/// FNV-1a: the same on all ranks.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

using Name = std::tuple<TrafficKind, TrafficGroup, std::string_view, TrafficPass>;

/// `number`: of the operation among those of its name and peer.
std::uint64_t seed_of(const TrafficOp& op, std::uint64_t number) {
  const std::uint64_t kind = is_message(op) ? static_cast<std::uint64_t>(TrafficKind::send)
                                            : static_cast<std::uint64_t>(op.kind);
  const std::uint64_t which =
      (kind * 16 + static_cast<std::uint64_t>(op.group)) * 16 + static_cast<std::uint64_t>(op.pass);
  return random_bits(random_bits(which, hash_of(op.what)), number);
}

}  // namespace

GroupSizes group_sizes(const TrafficSplit& split, const TrafficPlace& place) {
  GroupSizes sizes;
  for (const auto& [group, name] : kTrafficGroups.entries)
    sizes[static_cast<std::size_t>(group)] = group_size(group, split, place);
  return sizes;
}

std::int64_t in_elements(const TrafficOp& op, int ranks) {
  switch (op.kind) {
    case TrafficKind::sum:
      return padded_to(op.elements, ranks);
    case TrafficKind::scatter_sum:
      return op.elements * ranks;
    case TrafficKind::gather:
    case TrafficKind::send:
      return op.elements;
    case TrafficKind::all_to_all:
      return sum_of(op.to);
    default:
      return 0;
  }
}

std::int64_t out_elements(const TrafficOp& op, int ranks) {
  switch (op.kind) {
    case TrafficKind::sum:
      return padded_to(op.elements, ranks);
    case TrafficKind::gather:
      return op.elements * ranks;
    case TrafficKind::scatter_sum:
    case TrafficKind::receive:
      return op.elements;
    case TrafficKind::all_to_all:
      return sum_of(op.from);
    default:
      return 0;
  }
}

double BufferPlan::bytes() const {
  double elements = static_cast<double>(received) + static_cast<double>(padded), numbers = 0.0;
  for (const Buffer& one : buffers) {
    elements += static_cast<double>(one.in) + static_cast<double>(one.out);
    numbers += static_cast<double>(one.numbers);
  }
  return elements * static_cast<double>(size_of(dtype)) + numbers * sizeof(double);
}

BufferPlan make_buffer_plan(const StepSchedule& schedule, const GroupSizes& ranks, Dtype dtype,
                            bool shared) {
  BufferPlan plan{.dtype = dtype};
  const auto slots = static_cast<std::size_t>(schedule.slots);
  std::vector<const TrafficOp*> ops(slots, nullptr);  // one of each slot
  for (const TrafficOp& op : schedule.ops)
    if (op.slot >= 0) ops[static_cast<std::size_t>(op.slot)] = &op;
  std::map<Name, std::size_t> known;
  std::map<std::pair<Name, int>, std::uint64_t> numbers;
  for (const TrafficOp* op : ops) {
    const Name name{op->kind, op->group, op->what, op->pass};
    const bool shares = shared && op->kind != TrafficKind::control;
    const auto found = known.find(name);
    if (shares && found != known.end()) {
      plan.buffer_of_slot.push_back(found->second);
    } else {
      known[name] = plan.buffers.size();
      plan.buffer_of_slot.push_back(plan.buffers.size());
      plan.buffers.emplace_back();
    }
    plan.seed_of_slot.push_back(
        seed_of(*op, shares ? 0 : numbers[{name, is_message(*op) ? op->peer : 0}]++));
  }
  // Those of all_to_all differ between micro-batches.
  for (const TrafficOp& op : schedule.ops) {
    if (op.slot < 0) continue;
    const int size = ranks[static_cast<std::size_t>(op.group)];
    BufferPlan::Buffer& buffer =
        plan.buffers[plan.buffer_of_slot[static_cast<std::size_t>(op.slot)]];
    buffer.in = std::max(buffer.in, in_elements(op, size));
    buffer.out = std::max(buffer.out, out_elements(op, size));
    if (op.kind == TrafficKind::control) buffer.numbers = op.elements;
    if (op.kind == TrafficKind::sum || op.kind == TrafficKind::scatter_sum)
      plan.received = std::max(plan.received, in_elements(op, size));
    if (op.row > 0)
      plan.padded = std::max({plan.padded, in_elements(op, size), out_elements(op, size)});
  }
  return plan;
}

bool shares_buffers(Group& all, const StepSchedule& schedule, const GroupSizes& ranks, Dtype dtype,
                    std::int64_t buffer_bytes) {
  const double own = make_buffer_plan(schedule, ranks, dtype, false).bytes();
  return largest(all, own) > static_cast<double>(buffer_bytes);
}

std::string call_obstacle(const TrafficOp& op, int ranks, Dtype dtype, bool sums_by_library) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  std::int64_t count = op.elements;
  if (op.kind == TrafficKind::compute) return "";
  if (op.kind == TrafficKind::sum && !sums_by_library)
    count = padded_to(op.elements, ranks) / ranks;
  if (op.kind == TrafficKind::send || op.kind == TrafficKind::receive) count *= size;
  if (op.kind == TrafficKind::all_to_all) {
    count = 0;
    for (const auto* parts : {&op.to, &op.from})
      for (const std::int64_t part : *parts) count = std::max(count, part * size);
  }
  if (count <= INT_MAX) return "";
  return fmt::format("{} {} '{}' has a count of {}, above the limit of MPI ({})",
                     kTrafficGroups.name(op.group), kTrafficKinds.name(op.kind), op.what, count,
                     INT_MAX);
}

}  // namespace bench
