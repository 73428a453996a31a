#include "probes/shared/collective_exchange.h"

#include <algorithm>
#include <limits>

#include "core/elements.h"

namespace bench {
namespace {

constexpr std::size_t kMaxSlots = 4096;
constexpr std::size_t kSlotAlignment = 64;
constexpr int kMostValues = 8;

/// Inputs are integers from 0 to below this, so that sums over all ranks are exact in the type.
int input_values(Dtype dtype, int ranks) {
  const int highest = dtype == Dtype::bf16 ? 256 : dtype == Dtype::f16 ? 2048 : 1 << 24;
  return std::min(kMostValues, highest / ranks + 1);
}

}  // namespace

Exchange::Shape Exchange::shape_of(CollectiveOp op, int ranks) {
  const double n = ranks;
  switch (op) {
    case CollectiveOp::all_reduce:
      return {false, false, 2 * (n - 1) / n};
    case CollectiveOp::all_gather:
      return {false, true, (n - 1) / n};
    case CollectiveOp::reduce_scatter:
      return {true, false, (n - 1) / n};
    case CollectiveOp::all_to_all:
      return {true, true, (n - 1) / n};
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
    case CollectiveOp::send_recv:
      return {false, false, 1.0};
  }
  return {false, false, 1.0};
}

std::size_t Exchange::buffer_bytes(const Collectives& collectives, std::size_t max_bytes,
                                   std::size_t offset) {
  const std::size_t rotation = collectives.rotation_bytes();
  return std::max(rotation + std::min(rotation, max_bytes), max_bytes) +
         kMaxSlots * kSlotAlignment + offset;
}

bool Exchange::exact(Dtype dtype, int ranks) { return input_values(dtype, ranks) >= 2; }

Exchange::Exchange(const ExchangeRequest& request, Group& group, Collectives& collectives,
                   ExchangeBuffers buffers)
    : request_(request),
      group_(group),
      collectives_(collectives),
      buffers_(buffers),
      shape_(shape_of(request.op, group.size())) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::size_t element = size_of(request.dtype);
  const bool parts = shape_.send_is_total || shape_.recv_is_total;
  count_ = request.size_bytes / element / (parts ? ranks : 1);
  sent_ = count_ * (shape_.send_is_total ? ranks : 1);
  received_ = count_ * (shape_.recv_is_total ? ranks : 1);
  if (empty()) return;
  slot_bytes_ = (size_bytes() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  const std::size_t rotation = request.rotate ? collectives.rotation_bytes() : 0;
  slots_ = std::clamp<std::size_t>((rotation + slot_bytes_ - 1) / slot_bytes_, 1, kMaxSlots);
  poison_.assign(size_bytes(), std::byte{0xff});
  input_.resize(sent_ * element);
  for (std::size_t i = 0; i < sent_; ++i)
    encode(input_.data() + i * element, request.dtype, input(group.rank(), i));
  if (request.in_place && shape_.recv_is_total && !shape_.send_is_total)
    own_part_ = static_cast<std::size_t>(group.rank()) * count_ * element;
  first_recv_ = buffers.recv.data() + buffers.offset;
  first_send_ = request.in_place ? first_recv_ + own_part_ : buffers.send.data() + buffers.offset;
  // Every slot holds the same data: rotation only needs different memory.
  for (std::size_t slot = 0; slot < slots_; ++slot) reset(slot);
}

std::size_t Exchange::size_bytes() const {
  return std::max(sent_, received_) * size_of(request_.dtype);
}

void Exchange::record(std::int64_t calls) {
  recorded_ = collectives_.record([&] { run_directly(calls); });
  recorded_calls_ = calls;
}

void Exchange::run(std::int64_t calls) {
  if (!recorded_) return run_directly(calls);
  for (; calls > 0; calls -= recorded_calls_) recorded_->replay();
}

void Exchange::run_directly(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) {
    slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
    const std::size_t at = slot_ * slot_bytes_;
    collectives_.run(request_.op, first_send_ + at, first_recv_ + at, count_, request_.dtype);
  }
}

/// Poisons the output, then writes the input (in place they overlap, so in that order).
void Exchange::reset(std::size_t slot) {
  buffers_.recv.write(slot_at(slot), poison_);
  if (request_.in_place)
    buffers_.recv.write(slot_at(slot) + own_part_, input_);
  else
    buffers_.send.write(slot_at(slot), input_);
}

double Exchange::wrong() {
  if (!defined_here()) return 0.0;
  std::vector<std::byte> bytes(received_ * size_of(request_.dtype));
  std::vector<double> values(received_);
  buffers_.recv.read(slot_at(slot_), bytes);
  decode(bytes.data(), request_.dtype, false, values);
  double count = 0.0;
  for (std::size_t i = 0; i < received_; ++i)
    if (!(values[i] == expected(i))) ++count;
  return count;
}

/// Reduce leaves its result at the root only; the root of a broadcast receives nothing.
bool Exchange::defined_here() const {
  if (request_.op == CollectiveOp::reduce) return group_.rank() == 0;
  if (request_.op == CollectiveOp::broadcast) return group_.rank() != 0;
  return true;
}

/// Depends on rank, index and size, so that stale data cannot pass.
double Exchange::input(int rank, std::size_t index) const {
  const auto who = static_cast<std::uint64_t>(rank) + 1;
  const std::uint64_t seed =
      request_.seed ^ (request_.size_bytes * 0x2545f4914f6cdd1du) ^ (who * 0xd1342543de82ef95u);
  const auto values = static_cast<std::uint64_t>(input_values(request_.dtype, group_.size()));
  return static_cast<double>((random_bits(seed, index) >> 40) % values);
}

double Exchange::expected(std::size_t i) const {
  const int n = group_.size();
  const int rank = group_.rank();
  const auto own = static_cast<std::size_t>(rank) * count_;
  switch (request_.op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce:
      return sum(i);
    case CollectiveOp::reduce_scatter:
      return sum(own + i);
    case CollectiveOp::all_gather:
      return input(static_cast<int>(i / count_), i % count_);
    case CollectiveOp::all_to_all:
      return input(static_cast<int>(i / count_), own + i % count_);
    case CollectiveOp::broadcast:
      return input(0, i);
    case CollectiveOp::send_recv:
      return input((rank + n - 1) % n, i);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double Exchange::sum(std::size_t i) const {
  double total = 0.0;
  for (int rank = 0; rank < group_.size(); ++rank) total += input(rank, i);
  return total;
}

}  // namespace bench
