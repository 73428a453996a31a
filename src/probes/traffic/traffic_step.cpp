#include "probes/traffic/traffic_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <span>

#include "core/elements.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

using training::View;

constexpr int kMostInputs = 8;
constexpr std::byte kTrafficPoison{0xff};  // NaN in every float

/// Inputs are integers from 0 to below this, so that sums over all ranks are exact.
int traffic_values(Dtype dtype, int ranks) {
  const int highest = dtype == Dtype::bf16 ? 256 : dtype == Dtype::f16 ? 2048 : 1 << 24;
  return std::min(kMostInputs, highest / ranks + 1);
}

void overwrite(const training::MemoryBlock& block, std::int64_t at, std::int64_t bytes) {
  if (bytes > 0)
    std::memset(block.data() + at, static_cast<int>(kTrafficPoison),
                static_cast<std::size_t>(bytes));
}

}  // namespace

TrafficGroups::TrafficGroups(Group& all, const TrafficSplit& split, const TrafficPlace& place)
    : all_(all) {
  for (const auto& [group, name] : kTrafficGroups.entries) {
    if (group == TrafficGroup::all) continue;
    auto& part = parts_[static_cast<std::size_t>(group)];
    part = group_size(group, split, place) > 1 ? all.subgroup(group_number(group, split, place))
                                               : make_self_group();
  }
}

Group& TrafficGroups::of(TrafficGroup group) const {
  const auto& part = parts_[static_cast<std::size_t>(group)];
  return part ? *part : all_;
}

GroupSizes TrafficGroups::sizes() const {
  GroupSizes sizes;
  for (const auto& [group, name] : kTrafficGroups.entries)
    sizes[static_cast<std::size_t>(group)] = of(group).size();
  return sizes;
}

TrafficSelection TrafficSelection::step() {
  TrafficSelection what;
  what.groups.fill(true);
  return what;
}
TrafficSelection TrafficSelection::computation_alone() { return {}; }
TrafficSelection TrafficSelection::traffic_alone() {
  TrafficSelection what = step();
  what.computation = false;
  return what;
}
TrafficSelection TrafficSelection::alone(TrafficGroup group) {
  TrafficSelection what;
  what.computation = false;
  what.groups[static_cast<std::size_t>(group)] = true;
  return what;
}

bool TrafficStep::exact(Dtype dtype, int ranks) { return traffic_values(dtype, ranks) > 1; }

TrafficStep::TrafficStep(const StepSchedule& schedule, const TrafficGroups& groups,
                         const training::KernelSet& kernels, ComputeStandIn& computation,
                         Dtype dtype, bool sums_by_library, bool shared, std::uint64_t seed)
    : schedule_(schedule),
      groups_(groups),
      kernels_(kernels),
      computation_(computation),
      dtype_(dtype),
      sums_by_library_(sums_by_library),
      seed_(seed),
      plan_(make_buffer_plan(schedule, groups.sizes(), dtype, shared)) {
  for (const BufferPlan::Buffer& size : plan_.buffers) {
    Buffers& buffers = buffers_.emplace_back();
    buffers.in = training::MemoryBlock(bytes_of(size.in), "messages to send");
    buffers.out = training::MemoryBlock(bytes_of(size.out), "received messages");
    buffers.numbers.resize(static_cast<std::size_t>(size.numbers));
    overwrite(buffers.out, 0, buffers.out.bytes());
  }
  received_ = training::MemoryBlock(bytes_of(plan_.received), "parts of sums over ranks");
  padded_ = training::MemoryBlock(bytes_of(plan_.padded), "padded buckets");  // zeros
  fill_inputs();
  name_of_slot_.resize(static_cast<std::size_t>(schedule.slots));
  std::map<std::string, std::size_t> known;
  for (const TrafficOp& op : schedule.ops) {
    if (op.slot < 0) continue;
    std::string name = fmt::format("{} {}: {}", kTrafficGroups.name(op.group),
                                   kTrafficKinds.name(op.kind), op.what);
    const auto [at, added] = known.emplace(name, names_.size());
    name_of_slot_[slot(op)] = at->second;
    if (added) names_.push_back(std::move(name));
  }
  take_times();
}

TrafficStep::Times TrafficStep::take_times() {
  Times none;
  none.operations.assign(names_.size(), 0.0);
  return std::exchange(times_, std::move(none));
}

std::int64_t TrafficStep::bytes_of(std::int64_t elements) const {
  return elements * static_cast<std::int64_t>(size_of(dtype_));
}

std::int64_t TrafficStep::bytes() const {
  std::int64_t sum = received_.bytes() + padded_.bytes();
  for (const Buffers& one : buffers_)
    sum += one.in.bytes() + one.out.bytes() +
           static_cast<std::int64_t>(one.numbers.size() * sizeof(double));
  return sum;
}

double TrafficStep::own_outputs() const {
  if (plan_.buffer_of_slot.empty()) return 1.0;
  return static_cast<double>(buffers_.size()) / static_cast<double>(plan_.buffer_of_slot.size());
}

namespace {

std::int64_t sum_before(const std::vector<std::int64_t>& parts, std::size_t end) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < end; ++i) sum += parts[i];
  return sum;
}

}  // namespace

/// Element `index` of what a rank of the operation's group contributes.
double TrafficStep::value(const TrafficOp& op, int rank, std::int64_t index) const {
  const std::uint64_t bits = random_bits(random_bits(seed_, plan_.seed_of_slot[slot(op)]),
                                         static_cast<std::uint64_t>(rank));
  const int values = traffic_values(dtype_, ranks_of(op));
  return static_cast<double>(random_bits(bits, static_cast<std::uint64_t>(index)) %
                             static_cast<std::uint64_t>(values));
}

double TrafficStep::expected(const TrafficOp& op, std::int64_t index) const {
  Group& group = groups_.of(op.group);
  double total = 0.0;
  switch (op.kind) {
    case TrafficKind::sum:
      for (int rank = 0; rank < group.size(); ++rank) total += value(op, rank, index);
      return total;
    case TrafficKind::scatter_sum:
      index += group.rank() * op.elements;
      for (int rank = 0; rank < group.size(); ++rank) total += value(op, rank, index);
      return total;
    case TrafficKind::gather:
      return value(op, static_cast<int>(index / op.elements), index % op.elements);
    case TrafficKind::receive:
      return value(op, op.peer, index);
    default:
      return 0.0;
  }
}

/// Inputs of operations that share a buffer begin with the same numbers.
void TrafficStep::fill_inputs() {
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  std::vector<bool> filled(buffers_.size(), false);
  for (const TrafficOp& op : schedule_.ops) {
    if (op.slot < 0) continue;
    const std::size_t number = plan_.buffer_of_slot[slot(op)];
    if (filled[number]) continue;
    filled[number] = true;
    const int own = groups_.of(op.group).rank();
    for (std::int64_t i = 0; i < plan_.buffers[number].in; ++i)
      encode(buffers_[number].in.data() + i * size, dtype_, value(op, own, i));
  }
}

View TrafficStep::part(const training::MemoryBlock& block, std::int64_t first,
                       std::int64_t elements) const {
  return {block.data() + bytes_of(first), 1, elements, dtype_};
}

/// The parts that ranks exchange: a copy of the row where the operation pads it.
std::byte* TrafficStep::parts_of(const TrafficOp& op, std::byte* row) {
  if (op.row == 0) return row;
  std::memcpy(padded_.data(), row, static_cast<std::size_t>(bytes_of(op.row)));
  return padded_.data();
}

void TrafficStep::sum(const TrafficOp& op, const Buffers& buffers, Group& group) {
  Collectives& collectives = *group.collectives();
  if (sums_by_library_)
    return collectives.run(CollectiveOp::all_reduce, buffers.in.data(), buffers.out.data(),
                           static_cast<std::size_t>(op.elements), dtype_);
  const std::int64_t size = group.size(), share = in_elements(op, group.size()) / size;
  const auto count = static_cast<std::size_t>(share);
  const std::byte* parts = parts_of(op, buffers.in.data());
  collectives.run(CollectiveOp::all_to_all, parts, received_.data(), count, dtype_);
  const training::MemoryBlock& sums = op.row > 0 ? padded_ : buffers.out;
  const View own = part(sums, group.rank() * share, share);
  kernels_.elementwise->column_sums({received_.data(), size, share, dtype_}, own, false);
  collectives.run(CollectiveOp::all_gather, own.data, sums.data(), count, dtype_);
  if (op.row > 0)
    std::memcpy(buffers.out.data(), sums.data(), static_cast<std::size_t>(bytes_of(op.row)));
}

void TrafficStep::scatter_sum(const TrafficOp& op, const Buffers& buffers, Group& group) {
  Collectives& collectives = *group.collectives();
  const auto count = static_cast<std::size_t>(op.elements);
  if (sums_by_library_)
    return collectives.run(CollectiveOp::reduce_scatter, buffers.in.data(), buffers.out.data(),
                           count, dtype_);
  const std::byte* parts = parts_of(op, buffers.in.data());
  collectives.run(CollectiveOp::all_to_all, parts, received_.data(), count, dtype_);
  kernels_.elementwise->column_sums({received_.data(), group.size(), op.elements, dtype_},
                                    part(buffers.out, 0, op.elements), false);
}

void TrafficStep::gather(const TrafficOp& op, const Buffers& buffers, Group& group) {
  const bool copies = op.row > 0;
  group.collectives()->run(CollectiveOp::all_gather, buffers.in.data(),
                           copies ? padded_.data() : buffers.out.data(),
                           static_cast<std::size_t>(op.elements), dtype_);
  if (copies)
    std::memcpy(buffers.out.data(), padded_.data(), static_cast<std::size_t>(bytes_of(op.row)));
}

/// By messages: the ranks' parts have different sizes.
void TrafficStep::exchange_rows(const TrafficOp& op, const Buffers& buffers, Group& group) {
  Collectives& messages = *group.collectives();
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto own = static_cast<std::size_t>(group.rank());
  const auto part_of = [&](const training::MemoryBlock& block,
                           const std::vector<std::int64_t>& parts, std::size_t rank) {
    return std::span(block.data() + bytes_of(sum_before(parts, rank)),
                     static_cast<std::size_t>(bytes_of(parts[rank])));
  };
  std::ranges::copy(part_of(buffers.in, op.to, own), part_of(buffers.out, op.from, own).begin());
  // In turn: send() waits while many messages are undelivered.
  for (std::size_t i = 1; i < ranks; ++i) {
    if (const std::size_t to = (own + i) % ranks; op.to[to] > 0)
      messages.send(part_of(buffers.in, op.to, to), static_cast<int>(to));
    if (const std::size_t from = (own + ranks - i) % ranks; op.from[from] > 0)
      messages.receive(part_of(buffers.out, op.from, from), static_cast<int>(from));
  }
}

void TrafficStep::communicate(const TrafficOp& op) {
  Buffers& own = buffers(op);
  Group& group = groups_.of(op.group);
  const Seconds begin = steady_now();
  const auto whole = [](const training::MemoryBlock& block, std::int64_t bytes) {
    return std::span(block.data(), static_cast<std::size_t>(bytes));
  };
  switch (op.kind) {
    case TrafficKind::sum:
      sum(op, own, group);
      break;
    case TrafficKind::scatter_sum:
      scatter_sum(op, own, group);
      break;
    case TrafficKind::gather:
      gather(op, own, group);
      break;
    case TrafficKind::all_to_all:
      exchange_rows(op, own, group);
      break;
    case TrafficKind::send:
      group.collectives()->send(whole(own.in, bytes_of(op.elements)), op.peer);
      break;
    case TrafficKind::receive:
      group.collectives()->receive(whole(own.out, bytes_of(op.elements)), op.peer);
      break;
    case TrafficKind::control:
      std::ranges::fill(own.numbers, 1.0);
      group.sum(own.numbers);
      break;
    case TrafficKind::compute:
      break;
  }
  const double end = steady_now().value, took = end - begin.value;
  times_.groups[static_cast<std::size_t>(op.group)] += took;
  times_.exposed[static_cast<std::size_t>(op.group)] +=
      std::max(0.0, end - std::max(begin.value, computed_at_.load()));
  times_.operations[name_of_slot_[slot(op)]] += took;
}

void TrafficStep::run(const TrafficSelection& what) {
  ++times_.steps;
  computation_.begin();
  if (schedule_.overlaps && what.computation &&
      what.groups[static_cast<std::size_t>(TrafficGroup::data)])
    run_overlapped(what);
  else
    run_in_order(what);
}

void TrafficStep::run_in_order(const TrafficSelection& what) {
  for (const TrafficOp& op : schedule_.ops) {
    if (!what.has(op)) continue;
    if (op.kind != TrafficKind::compute) {
      communicate(op);
      continue;
    }
    const Seconds begin = steady_now();
    computation_.run(op);
    times_.computation += (steady_now() - begin).value;
  }
}

/// Passes in a second thread, exchanges of gradients meanwhile in this one, and the rest
/// afterwards: as training/parallel/gradient_exchange.h does.
void TrafficStep::run_overlapped(const TrafficSelection& what) {
  const auto& ops = schedule_.ops;
  const auto in_passes = [](const TrafficOp& op) {
    return op.pass != TrafficPass::update || op.ready >= 0;
  };
  computed_ = -1;
  computed_at_ = std::numeric_limits<double>::infinity();
  double computing = 0.0;
  const auto done_until = [&](std::size_t i) {
    computed_ = static_cast<int>(i);
    computed_.notify_all();
  };
  const auto compute = [&] {
    const Seconds begin = steady_now();
    try {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (ops[i].kind != TrafficKind::compute || !in_passes(ops[i])) continue;
        computation_.run(ops[i]);
        done_until(i);
      }
    } catch (...) {
      done_until(ops.size());  // the exchange would wait, and other ranks for it
      throw;
    }
    const Seconds end = steady_now();
    computed_at_ = end.value;
    computing = (end - begin).value;
  };
  const auto exchange = [&] {
    for (const TrafficOp& op : ops) {
      if (op.kind == TrafficKind::compute || !in_passes(op) || !what.has(op)) continue;
      for (int done = computed_; done < op.ready; done = computed_) computed_.wait(done);
      communicate(op);
    }
  };
  Group& group = groups_.of(TrafficGroup::data);
  group.collectives()->overlap()->together(exchange, compute);
  computed_at_ = 0.0;
  times_.computation += computing;
  for (const TrafficOp& op : ops) {
    if (in_passes(op) || !what.has(op)) continue;
    if (op.kind != TrafficKind::compute) {
      communicate(op);
      continue;
    }
    const Seconds begin = steady_now();
    computation_.begin();
    computation_.run(op);
    times_.computation += (steady_now() - begin).value;
  }
}

void TrafficStep::poison() {
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  for (Buffers& one : buffers_) {
    const std::int64_t bytes = one.out.bytes();
    if (bytes == 0) continue;
    for (const std::int64_t at : {std::int64_t{0}, bytes / size / 2 * size, bytes - size})
      overwrite(one.out, at, size);
  }
}

std::int64_t TrafficStep::wrong_after(const TrafficOp& op) const {
  const Buffers& own = buffers(op);
  Group& group = groups_.of(op.group);
  std::int64_t wrong = 0;
  if (op.kind == TrafficKind::control) {
    for (const double number : own.numbers) wrong += number == group.size() ? 0 : 1;
    return wrong;
  }
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  const auto differs = [&](std::int64_t at, double right) {
    double found = 0.0;
    decode(own.out.data() + at * size, dtype_, false, {&found, 1});
    return found == right ? 0 : 1;
  };
  if (op.kind != TrafficKind::all_to_all) {
    std::int64_t elements = out_elements(op, group.size());
    if (op.kind == TrafficKind::sum && sums_by_library_) elements = op.elements;
    if (op.row > 0) {  // the rest is padding
      const std::int64_t before =
          op.kind == TrafficKind::scatter_sum ? group.rank() * op.elements : 0;
      elements = std::clamp<std::int64_t>(op.row - before, 0, elements);
    }
    for (std::int64_t i = 0; i < elements; ++i) wrong += differs(i, expected(op, i));
    return wrong;
  }
  std::int64_t at = 0;
  for (std::size_t from = 0; from < op.from.size(); ++from)
    for (std::int64_t i = 0; i < op.from[from]; ++i, ++at)
      wrong += differs(at, value(op, static_cast<int>(from), op.from_first[from] + i));
  return wrong;
}

double TrafficStep::wrong(const TrafficSelection& what) const {
  // Of operations that share an output, the last one.
  std::vector<const TrafficOp*> last(buffers_.size(), nullptr);
  for (const TrafficOp& op : schedule_.ops)
    if (op.slot >= 0 && what.has(op)) last[plan_.buffer_of_slot[slot(op)]] = &op;
  std::int64_t wrong = 0;
  for (const TrafficOp* op : last)
    if (op != nullptr && op->kind != TrafficKind::send) wrong += wrong_after(*op);
  return static_cast<double>(wrong);
}

double TrafficStep::wrong_in_each(const TrafficSelection& what) {
  std::int64_t wrong = 0;
  for (const TrafficOp& op : schedule_.ops) {
    if (op.kind == TrafficKind::compute || !what.has(op)) continue;
    const training::MemoryBlock& out = buffers(op).out;
    overwrite(out, 0, std::min(out.bytes(), bytes_of(out_elements(op, ranks_of(op)))));
    communicate(op);
    if (op.kind != TrafficKind::send) wrong += wrong_after(op);
  }
  return static_cast<double>(wrong);
}

}  // namespace bench
