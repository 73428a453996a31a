#include "probes/traffic/traffic_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <tuple>

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

bool is_message(const TrafficOp& op) {
  return op.kind == TrafficKind::send || op.kind == TrafficKind::receive;
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
                         Dtype dtype, bool library_sums, std::int64_t buffer_bytes,
                         std::uint64_t seed)
    : schedule_(schedule),
      groups_(groups),
      kernels_(kernels),
      computation_(computation),
      dtype_(dtype),
      library_sums_(library_sums),
      seed_(seed) {
  // Of each slot the largest operation: messages of all_to_all differ between micro-batches.
  std::vector<const TrafficOp*> largest(static_cast<std::size_t>(schedule.slots), nullptr);
  std::int64_t received = 0, padded = 0, total = 0;
  for (const TrafficOp& op : schedule.ops) {
    if (op.slot < 0) continue;
    const TrafficOp*& known = largest[slot(op)];
    if (known == nullptr ||
        in_elements(op) + out_elements(op) > in_elements(*known) + out_elements(*known))
      known = &op;
    if (op.kind == TrafficKind::sum || op.kind == TrafficKind::scatter_sum)
      received = std::max(received, std::max(in_elements(op), out_elements(op)));
    if (op.row > 0) padded = std::max(padded, std::max(in_elements(op), out_elements(op)));
  }
  for (const TrafficOp* op : largest) total += bytes_of(in_elements(*op) + out_elements(*op));
  using Kind = std::tuple<TrafficKind, TrafficGroup, std::int64_t, std::int64_t>;
  std::map<Kind, std::size_t> shared;
  for (const TrafficOp* op : largest) {
    const Kind kind{op->kind, op->group, in_elements(*op), out_elements(*op)};
    const auto known = shared.find(kind);
    if (total > buffer_bytes && known != shared.end() && op->kind != TrafficKind::all_to_all) {
      buffer_of_slot_.push_back(known->second);
      continue;
    }
    shared[kind] = buffers_.size();
    buffer_of_slot_.push_back(buffers_.size());
    buffers_.emplace_back();
    prepare(*op, buffers_.back());
  }
  received_ = training::MemoryBlock(bytes_of(received), "parts of sums over ranks");
  padded_ = training::MemoryBlock(bytes_of(padded), "padded buckets");
  if (padded > 0) std::memset(padded_.data(), 0, static_cast<std::size_t>(padded_.bytes()));
  for (const TrafficOp* op : largest) {
    std::string name = fmt::format("{} {}: {}", kTrafficGroups.name(op->group),
                                   kTrafficKinds.name(op->kind), op->what);
    const auto known = std::ranges::find(names_, name);
    name_of_slot_.push_back(static_cast<std::size_t>(known - names_.begin()));
    if (known == names_.end()) names_.push_back(std::move(name));
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
  for (const Buffers& one : buffers_) sum += one.in.bytes() + one.out.bytes();
  return sum;
}

double TrafficStep::own_outputs() const {
  if (buffer_of_slot_.empty()) return 1.0;
  return static_cast<double>(buffers_.size()) / static_cast<double>(buffer_of_slot_.size());
}

namespace {

/// Sums are of equal parts for each rank.
std::int64_t padded_to(std::int64_t elements, int ranks) {
  return (elements + ranks - 1) / ranks * ranks;
}

std::int64_t sum_before(const std::vector<std::int64_t>& parts, std::size_t end) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < end; ++i) sum += parts[i];
  return sum;
}

}  // namespace

std::int64_t TrafficStep::in_elements(const TrafficOp& op) const {
  const int ranks = groups_.of(op.group).size();
  switch (op.kind) {
    case TrafficKind::sum:
      return padded_to(op.elements, ranks);
    case TrafficKind::scatter_sum:
      return op.elements * ranks;
    case TrafficKind::gather:
    case TrafficKind::send:
      return op.elements;
    case TrafficKind::all_to_all:
      return sum_before(op.to, op.to.size());
    default:
      return 0;
  }
}

std::int64_t TrafficStep::out_elements(const TrafficOp& op) const {
  const int ranks = groups_.of(op.group).size();
  switch (op.kind) {
    case TrafficKind::sum:
      return padded_to(op.elements, ranks);
    case TrafficKind::gather:
      return op.elements * ranks;
    case TrafficKind::scatter_sum:
    case TrafficKind::receive:
      return op.elements;
    case TrafficKind::all_to_all:
      return sum_before(op.from, op.from.size());
    default:
      return 0;
  }
}

/// Element `index` of what a rank of the operation's group contributes. The two ends of a message
/// know it by its group, pass and sender.
double TrafficStep::value(const TrafficOp& op, int rank, std::int64_t index) const {
  const std::uint64_t which = is_message(op) ? 1000 + static_cast<std::uint64_t>(op.pass)
                                             : static_cast<std::uint64_t>(op.kind);
  const std::uint64_t bits =
      random_bits(seed_ + which * 64 + static_cast<std::uint64_t>(op.group) * 8,
                  static_cast<std::uint64_t>(rank));
  const int values = traffic_values(dtype_, groups_.of(op.group).size());
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

void TrafficStep::prepare(const TrafficOp& op, Buffers& buffers) {
  if (op.kind == TrafficKind::control) {
    buffers.numbers.resize(static_cast<std::size_t>(op.elements));
    return;
  }
  const int own = groups_.of(op.group).rank();
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  buffers.in = training::MemoryBlock(bytes_of(in_elements(op)), "messages to send");
  buffers.out = training::MemoryBlock(bytes_of(out_elements(op)), "received messages");
  for (std::int64_t i = 0; i < in_elements(op); ++i)
    encode(buffers.in.data() + i * size, dtype_, value(op, own, i));
  if (buffers.out.bytes() > 0)
    std::memset(buffers.out.data(), static_cast<int>(kTrafficPoison),
                static_cast<std::size_t>(buffers.out.bytes()));
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
  if (library_sums_)
    return collectives.run(CollectiveOp::all_reduce, buffers.in.data(), buffers.out.data(),
                           static_cast<std::size_t>(op.elements), dtype_);
  const std::int64_t size = group.size(), share = in_elements(op) / size;
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
  if (library_sums_)
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
  for (std::size_t i = 1; i < ranks; ++i)
    if (const std::size_t to = (own + i) % ranks; op.to[to] > 0)
      messages.send(part_of(buffers.in, op.to, to), static_cast<int>(to));
  std::ranges::copy(part_of(buffers.in, op.to, own), part_of(buffers.out, op.from, own).begin());
  for (std::size_t i = 1; i < ranks; ++i)
    if (const std::size_t from = (own + ranks - i) % ranks; op.from[from] > 0)
      messages.receive(part_of(buffers.out, op.from, from), static_cast<int>(from));
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
  const double took = (steady_now() - begin).value;
  times_.groups[static_cast<std::size_t>(op.group)] += took;
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
  double computing = 0.0;
  const auto compute = [&] {
    const Seconds begin = steady_now();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind != TrafficKind::compute || !in_passes(ops[i])) continue;
      computation_.run(ops[i]);
      computed_ = static_cast<int>(i);
      computed_.notify_all();
    }
    computing = (steady_now() - begin).value;
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
      std::memset(one.out.data() + at, static_cast<int>(kTrafficPoison),
                  static_cast<std::size_t>(size));
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
    std::int64_t elements = out_elements(op);
    if (op.kind == TrafficKind::sum && library_sums_) elements = op.elements;
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
    if (op.slot >= 0 && what.has(op)) last[buffer_of_slot_[slot(op)]] = &op;
  std::int64_t wrong = 0;
  for (const TrafficOp* op : last)
    if (op != nullptr && op->kind != TrafficKind::send) wrong += wrong_after(*op);
  return static_cast<double>(wrong);
}

double TrafficStep::wrong_in_each(const TrafficSelection& what) {
  std::int64_t wrong = 0;
  for (const TrafficOp& op : schedule_.ops) {
    if (op.kind == TrafficKind::compute || !what.has(op)) continue;
    communicate(op);
    if (op.kind != TrafficKind::send) wrong += wrong_after(op);
  }
  return static_cast<double>(wrong);
}

}  // namespace bench
